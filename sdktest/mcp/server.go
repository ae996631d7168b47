package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/mcp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

var png = []byte("\x89PNG\r\n\x1a\n")

// tools are those that the suite calls.
var tools = []utp.Tool{
	{Name: "test_simple_text"}, {Name: "test_image_content"}, {Name: "test_audio_content"}, {Name: "test_embedded_resource"},
	{Name: "test_multiple_content_types"}, {Name: "test_error_handling"}, {Name: "test_tool_with_progress"},
	{Name: "test_elicitation", Tier: utp.TierRun, Schema: json.RawMessage(`{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`)},
	{Name: "json_schema_2020_12_tool", Schema: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
		`"$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
		`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`)},
}

// testServer is a server with what the suite asks for, as far as the package mcp
// has it.
func testServer() http.Handler {
	gate := &agent.Gate{Tools: schema.Compile(tools), Tier: utp.TierRun, Confirm: mcp.Confirm, Runner: agent.RunnerFunc(answer)}
	s, err := mcp.New(mcp.Config{Name: "conformance", Version: "1", Tools: tools, Tier: utp.TierRun, Runner: gate, Prompts: prompts(),
		Resources: &mcp.Resources{Base: "test://", Reader: agent.RunnerFunc(read),
			List: func() []mcp.Resource { return []mcp.Resource{{Path: "static-text"}, {Path: "static-binary"}} }}})
	if err != nil {
		panic(err) // the tools stand above
	}
	return s.Handler(mcp.Access{})
}

func answer(ctx context.Context, c utp.Call) utp.Result {
	file := utp.Blob{MIME: "text/plain", Name: "embedded-resource", Data: []byte("This is an embedded resource content.")}
	image := utp.Blob{MIME: "image/png", Data: png}
	switch c.Name {
	case "test_simple_text":
		return utp.TextResult(c, utp.StatusOK, "This is a simple text response for testing.")
	case "test_image_content":
		return parts(image)
	case "test_audio_content":
		return parts(utp.Blob{MIME: "audio/wav", Data: []byte("RIFF")})
	case "test_embedded_resource":
		return parts(file)
	case "test_multiple_content_types":
		return parts(utp.Text{Text: "Multiple content types test:"}, image, file)
	case "test_error_handling":
		return utp.TextResult(c, utp.StatusFailed, "This tool intentionally returns an error for testing")
	case "test_tool_with_progress":
		for _, done := range []float64{0, 50, 100} {
			mcp.Progress(ctx, done, 100, "")
			time.Sleep(150 * time.Millisecond) // the server tells no sooner
		}
		return utp.TextResult(c, utp.StatusOK, "done")
	}
	return utp.TextResult(c, utp.StatusOK, c.Name+" ran")
}

func parts(p ...utp.Part) utp.Result { return utp.Result{Status: utp.StatusOK, Parts: p} }

func read(_ context.Context, c utp.Call) utp.Result {
	var a struct{ Path string }
	if err := json.Unmarshal(c.Args, &a); err != nil {
		return utp.TextResult(c, utp.StatusFailed, err.Error())
	}
	switch {
	case a.Path == "static-text":
		return utp.TextResult(c, utp.StatusOK, "This is the content of the static text resource.")
	case a.Path == "static-binary":
		return parts(utp.Blob{MIME: "image/png", Data: png})
	case strings.HasPrefix(a.Path, "template/") && strings.HasSuffix(a.Path, "/data"):
		id := strings.TrimSuffix(strings.TrimPrefix(a.Path, "template/"), "/data")
		return utp.TextResult(c, utp.StatusOK, `{"id":"`+id+`","templateTest":true,"data":"Data for ID: `+id+`"}`)
	}
	return utp.TextResult(c, utp.StatusFailed, "there is no "+a.Path)
}

func prompts() []mcp.Prompt {
	text := func(s string) utp.Part { return utp.Text{Text: s} }
	prompt := func(name string, args []mcp.Argument, f func(map[string]string) []utp.Part) mcp.Prompt {
		return mcp.Prompt{Name: name, Description: "for the suite", Arguments: args,
			Parts: func(_ context.Context, a map[string]string) ([]utp.Part, error) { return f(a), nil }}
	}
	return []mcp.Prompt{
		prompt("test_simple_prompt", nil, func(map[string]string) []utp.Part {
			return []utp.Part{text("This is a simple prompt for testing.")}
		}),
		prompt("test_prompt_with_arguments", []mcp.Argument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}, func(a map[string]string) []utp.Part {
			return []utp.Part{text("Prompt with arguments: arg1='" + a["arg1"] + "', arg2='" + a["arg2"] + "'")}
		}),
		prompt("test_prompt_with_embedded_resource", []mcp.Argument{{Name: "resourceUri", Required: true}}, func(map[string]string) []utp.Part {
			return []utp.Part{utp.Blob{MIME: "text/plain", Name: "example", Data: []byte("Embedded resource content for testing.")}, text("Please process the embedded resource above.")}
		}),
		prompt("test_prompt_with_image", nil, func(map[string]string) []utp.Part {
			return []utp.Part{utp.Blob{MIME: "image/png", Data: png}, text("Please analyze the image above.")}
		}),
	}
}
