package wire_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// largeRequest is 150 KB as coding agents send them: many tools with long schemas,
// a long system prompt, and a history of files read and edited.
func largeRequest(b *testing.B) []byte {
	r := utp.Request{Model: "claude-sonnet-4-5", Stream: true}
	r.Messages = append(r.Messages, utp.NewText(utp.RoleSystem, strings.Repeat("You are \"careful\", and say so.\n", 250)))
	for i := range 45 {
		var props strings.Builder
		for k := range 8 {
			fmt.Fprintf(&props, `"argument_%d":{"type":["string","null"],"description":"What it is for, in a few words.","enum":["one","two","three"]},`, k)
		}
		schema := `{"type":"object","properties":{` + props.String() + `"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer","minimum":0}}}}},"required":["argument_0"]}`
		r.Tools = append(r.Tools, utp.Tool{Name: fmt.Sprint("tool_", i), Description: strings.Repeat("What it does.\n", 20), Schema: []byte(schema)})
	}
	for i := range 80 {
		c := utp.Call{ID: fmt.Sprint("toolu_", i), Name: "tool_1", Args: []byte(`{"argument_0":"internal/a.go","argument_1":null,"list":[{"a":1},{"a":2}]}`)}
		r.Messages = append(r.Messages, utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{utp.Text{Text: "I will look into it."}, c}},
			utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, strings.Repeat("\tif err != nil {\n\t\treturn err\n\t}\n", 15))}})
	}
	x, err := anthropic.Back{}.Open(&r)
	if err != nil {
		b.Fatal(err)
	}
	return x.Body
}

func BenchmarkReadRequest(b *testing.B) {
	body := largeRequest(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := (anthropic.Front{}).Read(wire.HTTPRequest{Body: body}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAnthropicToChat(b *testing.B) {
	body := largeRequest(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		r, _, err := anthropic.Front{}.Read(wire.HTTPRequest{Body: body})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := (openai.Back{}).Open(r); err != nil {
			b.Fatal(err)
		}
	}
}

// What encoding/json takes only to read the same request into maps.
func BenchmarkMaps(b *testing.B) {
	body := largeRequest(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var m map[string]any
		if err := json.Unmarshal(body, &m); err != nil {
			b.Fatal(err)
		}
	}
}

// A delta passes through each reader and each emitter.
func BenchmarkDelta(b *testing.B) {
	deltas := map[string]string{
		"anthropic": `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a few words"}}`,
		"responses": `{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"a few words","logprobs":[]}`,
		"ollama":    `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"a few words"},"done":false}`,
		"openai":    `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a few words"},"finish_reason":null}]}`,
		"gemini":    `{"candidates":[{"content":{"parts":[{"text":"a few words"}],"role":"model"},"index":0}],"modelVersion":"m"}`,
	}
	for _, from := range apis {
		for _, to := range apis {
			b.Run(from.name+"/"+to.name, func(b *testing.B) {
				r := &utp.Request{Model: "m"}
				x, err := from.back.Open(r)
				if err != nil {
					b.Fatal(err)
				}
				reader, writer := x.Reader(nil), to.front.Writer(r, wire.Stamp{ID: "x"})
				said := wire.Frame{Data: []byte(deltas[from.name])}
				other := wire.Frame{Data: []byte(strings.Replace(deltas[from.name], "words", "more", 1))}
				b.ReportAllocs()
				for b.Loop() {
					for _, e := range reader.Feed(said) {
						writer.Write(e)
					}
					said, other = other, said
				}
			})
		}
	}
}
