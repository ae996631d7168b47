package mcp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
)

// call answers tools/call for a listed tool.
func (s *Server) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	c := readCall(req.Params)
	ask := s.asked.begin(req, c)
	r := s.runner.Run(context.WithValue(ctx, askKey{}, ask), c)
	if q := ask.pending(); q != nil && r.Status == utp.Denied {
		return q, nil
	}
	return writeResult(r), nil
}

// readCall takes the arguments as they came, or as an empty object.
func readCall(p *sdk.CallToolParamsRaw) utp.Call {
	args := p.Arguments
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	return utp.Call{Name: p.Name, Args: args, Source: utp.Native}
}

// unlisted answers calls of names that are not listed: the Runner says why not.
// A tool that exists is refused in a result, a name that is no tool at all in
// an error of the protocol.
func (s *Server) unlisted(c Config) sdk.Middleware {
	tiers := map[string]utp.Tier{}
	for _, t := range c.Tools {
		tiers[t.Name] = t.Tier
	}
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			call, ok := req.(*sdk.CallToolRequest)
			if !ok || call.Params == nil {
				return next(ctx, method, req)
			}
			tier, known := tiers[call.Params.Name]
			if known && tier <= c.Tier {
				return next(ctx, method, req)
			}
			r := s.runner.Run(ctx, readCall(call.Params))
			if !known && r.Status != utp.OK {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: r.Text()}
			}
			return writeResult(r), nil
		}
	}
}

// writeResult tells the outcome by isError alone, never by the text.
func writeResult(r utp.Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{IsError: r.Status != utp.OK, Content: []sdk.Content{}}
	for _, p := range r.Parts {
		if c := content(p); c != nil {
			out.Content = append(out.Content, c)
		}
	}
	return out
}

func content(p utp.Part) sdk.Content {
	switch p := p.(type) {
	case utp.Text:
		return &sdk.TextContent{Text: p.Text}
	case utp.Blob:
		return blob(p)
	}
	return nil
}

func blob(b utp.Blob) sdk.Content {
	switch {
	case len(b.Data) == 0 && b.URL != "":
		return &sdk.ResourceLink{URI: b.URL, Name: b.Name, MIMEType: b.MIME}
	case strings.HasPrefix(b.MIME, "image/"):
		return &sdk.ImageContent{Data: b.Data, MIMEType: b.MIME}
	case strings.HasPrefix(b.MIME, "audio/"):
		return &sdk.AudioContent{Data: b.Data, MIMEType: b.MIME}
	}
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "blob:" + b.Name, MIMEType: b.MIME, Blob: b.Data}}
}
