package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
)

// call answers tools/call.
func (s *Server) call(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	c := readCall(req.Params)
	if c.Name == moreTools && s.few {
		inner, all, err := s.more(c)
		if err != nil || inner == nil {
			return s.writeResult(all), err
		}
		c = *inner
	}
	ask := s.asked.begin(req.ClientCapabilities(), req.Params.InputResponses, req.Params.RequestState, c)
	ctx, end := s.telling(context.WithValue(ctx, askKey{}, ask), req)
	defer end()
	r := s.runner.Run(s.rooted(ctx, req.Session), c)
	if r.Status == utp.StatusDenied {
		if q, state := ask.pending(); q != nil {
			return &sdk.CallToolResult{InputRequests: q, RequestState: state}, nil
		}
	}
	if !s.known(c.Name) && r.Status != utp.StatusOK {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: r.Text()}
	}
	return s.writeResult(r), nil
}

// readCall takes the arguments as they came, or as an empty object.
func readCall(p *sdk.CallToolParamsRaw) utp.Call {
	args := p.Arguments
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	return utp.Call{Name: p.Name, Args: args, Source: utp.SourceNative}
}

// calls answers tools/call for names that are not callable: the Runner says why
// not. A tool that exists is refused in a result, a name that is
// no tool at all in an error of the protocol.
func (s *Server) calls(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		call, ok := req.(*sdk.CallToolRequest)
		if !ok || call.Params == nil || slices.Contains(s.callable, call.Params.Name) {
			return next(ctx, method, req)
		}
		r, err := s.call(ctx, call)
		if err != nil {
			return nil, err // a typed nil would be a result
		}
		return r, nil
	}
}

// writeResult tells the outcome by isError alone, never by the text.
func (s *Server) writeResult(r utp.Result) *sdk.CallToolResult {
	out := &sdk.CallToolResult{IsError: r.Status != utp.StatusOK, Content: []sdk.Content{}}
	for _, p := range r.Parts {
		if c := content(p); c != nil {
			out.Content = append(out.Content, c)
		}
	}
	if s.structured {
		out.StructuredContent = structure(r)
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
