package envelope_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/envelope"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// said sums up events: text, thinking, and calls with their arguments.
func said(evs []utp.Event) string {
	var b strings.Builder
	r := utp.Collect(evs)
	for _, p := range r.Parts {
		switch p := p.(type) {
		case utp.Text:
			b.WriteString("text " + p.Text + "\n")
		case utp.Think:
			b.WriteString("think " + p.Text + "\n")
		case utp.Call:
			b.WriteString("call " + p.Name + " " + string(p.Args) + " " + p.ID + "\n")
		}
	}
	for _, p := range r.Problems {
		b.WriteString("problem " + p.Error() + "\n")
	}
	return b.String()
}

// TestCases reads what providers send: testdata/*.txtar. Section in is the
// reply, out what it says; with a section bare the list of calls counts too.
func TestCases(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		evs, found, err := envelope.New(nil).Read([]byte(c.Get("in")), c.Has("bare"))
		out := said(evs)
		if err != nil {
			out += "error: " + err.Error() + "\n"
		}
		if !found {
			out = "no reply\n"
		}
		c.Want(t, "out", out)
	})
}

// A message gives the same calls whether a program holds it as bytes, as a map or
// as a struct: each is the JSON that its provider sends.
//
// contract: P-03
func TestMessageAsBytesMapOrStruct(t *testing.T) {
	type function struct {
		Arguments json.RawMessage `json:"arguments"`
		Name      string          `json:"name"`
	}
	type call struct {
		Type     string   `json:"type"`
		ID       string   `json:"id,omitempty"`
		Function function `json:"function"`
	}
	type message struct {
		Calls   []call  `json:"tool_calls"`
		Content *string `json:"content"`
		Role    string  `json:"role"`
	}
	for args, id := range map[string]string{`"{\"query\":\"a\",\"n\":1}"`: "call_7", `{"query":"a","n":1}`: ""} {
		held := message{Role: "assistant", Calls: []call{{"function", id, function{json.RawMessage(args), "search"}}}}
		for wrap, around := range map[string]func(any) any{
			"bare":    func(m any) any { return m },
			"message": func(m any) any { return map[string]any{"message": m} },
			"choice":  func(m any) any { return map[string]any{"index": 0, "message": m, "finish_reason": "tool_calls"} },
		} {
			b, err := json.Marshal(around(held))
			if err != nil {
				t.Fatal(err)
			}
			var asMap map[string]any
			if err := json.Unmarshal(b, &asMap); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(asMap)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range [][]byte{b, again} {
				evs, found, err := envelope.New(nil).Read(in, true)
				calls := utp.Collect(evs).Calls()
				if err != nil || !found || len(calls) != 1 || calls[0].Name != "search" || calls[0].ID != id {
					t.Errorf("%s: %s: %v, found %v: %+v", wrap, in, err, found, calls)
					continue
				}
				var got struct {
					Query string
					N     json.Number
				}
				if err := json.Unmarshal(calls[0].Args, &got); err != nil || got.Query != "a" || got.N != "1" {
					t.Errorf("%s: %s: arguments %s", wrap, in, calls[0].Args)
				}
			}
		}
	}
}

// What a model may write as text is no reply, in front of all JSON that has
// keys of an envelope without being one.
func TestTextsAreNoReplies(t *testing.T) {
	for _, in := range []string{
		"", " \n", "Hello.", "null", "7", `"data: x"`, "[]", "[1]", "{}", "[{}]", "{", "[{", "data:", "data: x\n\n", ": note\n\ntext", "event: x\ndata: {}\n\n",
		`{"choices":["a","b"]}`, `{"choices":[]}`, `{"choices":[{"label":"a"}]}`, `{"choices":7,"object":"quiz"}`,
		`{"message":"hello"}`, `{"message":{"text":"hello"}}`, `{"message":{"role":"user","content":"hi"}}`, `{"done":true}`, `{"done":true,"message":"x"}`,
		`{"role":"user","content":"hi"}`, `{"role":"assistant"}`, `{"role":"assistant","content":[{"type":"text","text":"hi"}]}`,
		`{"name":"f","arguments":{}}`, `[{"name":"f","arguments":{}}]`, `{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}`,
		`[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]`,
		`{"type":"message","role":"assistant"}`, `{"type":"message","content":"x"}`, `{"type":"tool_use","name":"f","input":{}}`, `{"object":"response"}`,
		`{"type":"response","output":[]}`, `{"candidates":["Ada","Grace"]}`, `{"candidates":[]}`, `{"candidates":[{"name":"Ada"}]}`, `[{"functionCall":{"name":"f"}}]`,
		`{"error":{"message":"overloaded"}}`, "{\"a\":1}\n{\"b\":2}\n", `{"name":"f"} and {"done":false}`,
	} {
		if evs, found, err := envelope.New(nil).Read([]byte(in), false); found || evs != nil || err != nil {
			t.Errorf("%q is read as a reply: %v %v", in, evs, err)
		}
	}
}

// Why a reply is not complete, after the events that came.
func TestBrokenReplies(t *testing.T) {
	chunk := `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"}}]}` + "\n\n"
	for in, want := range map[string]error{
		chunk: wire.ErrCut,
		`{"model":"m","message":{"role":"assistant","content":"Hi"},"done":false}`: wire.ErrCut,
	} {
		evs, found, err := envelope.New(nil).Read([]byte(in), false)
		if !found || !errors.Is(err, want) || said(evs) != "text Hi\n" {
			t.Errorf("%s: %v %v %q", in, found, err, said(evs))
		}
	}
	evs, found, err := envelope.New(nil).Read([]byte(chunk+"data: {\"error\":{\"message\":\"overloaded\"}}\n\n"), false)
	var e *wire.Error
	if !found || !errors.As(err, &e) || e.Message != "overloaded" || said(evs) != "text Hi\n" {
		t.Errorf("%v %v %q", found, err, said(evs))
	}
}

// Names that a provider does not allow were sent in another form; they come
// back as they were.
func TestNamesComeBack(t *testing.T) {
	tools := []utp.Tool{{Name: "files.read"}}
	evs, _, err := envelope.New(tools).Read([]byte(`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"files_read","arguments":"{}"}}]}}]}`), false)
	if err != nil && !errors.Is(err, wire.ErrCut) || said(evs) != "call files.read {} a\n" {
		t.Errorf("%v %q", err, said(evs))
	}
	if _, found, err := envelope.New([]utp.Tool{{}}).Read([]byte(`{"role":"assistant","content":"x"}`), false); !found || err == nil || !strings.HasPrefix(err.Error(), "openai: ") {
		t.Errorf("a tool without a name: %v", err)
	}
}
