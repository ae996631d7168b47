package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

type textMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type partsMessage struct {
	Role    string        `json:"role"`
	Content []contentPart `json:"content"`
}

type contentPart struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

// assistantMessage has a null content beside calls when there is no text:
// servers' templates ask for the key.
type assistantMessage struct {
	Role             string     `json:"role"`
	Content          *string    `json:"content"`
	ReasoningContent string     `json:"reasoning_content,omitempty"`
	Reasoning        string     `json:"reasoning,omitempty"`
	ToolCalls        []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON as text
}

type toolMessage struct {
	Role    string `json:"role"`
	CallID  string `json:"tool_call_id"`
	Content string `json:"content"`
}

func (w *writing) messages() {
	ids := wire.ShortIDs(40)
	if w.back.Server == Mistral {
		ids = wire.FixedIDs(9)
	}
	messages, losses := wire.Order(w.in.Messages, ids)
	w.losses = append(w.losses, losses...)
	w.out.Messages = []any{}
	for i, m := range wire.LiftBlobs(messages) {
		w.message(fmt.Sprintf("messages[%d]", i), m)
	}
}

func (w *writing) message(path string, m utp.Message) {
	switch m.Role {
	case utp.ToolRole:
		for _, r := range m.Results() {
			w.add(toolMessage{"tool", r.CallID, wire.ResultText(r)})
		}
	case utp.Assistant:
		w.add(w.assistant(path, m))
	default:
		w.add(w.user(path, m))
	}
}

func (w *writing) add(m any) { w.out.Messages = append(w.out.Messages, m) }

func (w *writing) assistant(path string, m utp.Message) assistantMessage {
	text := m.Text()
	out := assistantMessage{Role: "assistant", Content: &text}
	for i, c := range m.Calls() {
		args, ok := wire.Object(c.Args, c.RawArgs)
		if c.Kind == utp.CustomCall {
			args, ok = customArgs(c.RawArgs), true
		}
		if !ok {
			w.lose(fmt.Sprintf("%s.calls[%d].arguments", path, i), "sent as _raw", "they are no JSON object")
		}
		out.ToolCalls = append(out.ToolCalls, toolCall{c.ID, "function", functionCall{w.names.Out(c.Name), string(args)}})
	}
	if len(out.ToolCalls) > 0 && text == "" {
		out.Content = nil
	}
	w.reasoning(path, m, &out)
	return out
}

type customInput struct {
	Input string `json:"input"`
}

func customArgs(text string) json.RawMessage {
	b, err := wire.Marshal(customInput{text})
	if err != nil {
		return json.RawMessage(`{"input":""}`)
	}
	return b
}

// provider is the Think.Provider of reasoning that a chat completions server sent.
const provider = "openai"

// origin is the Think.Extra of such reasoning: the field that it came in. It
// goes back in the same field, beside calls only; DeepSeek insists on it,
// servers that never sent the field may refuse it.
type origin struct {
	Field string `json:"field"`
}

func (w *writing) reasoning(path string, m utp.Message, out *assistantMessage) {
	for _, p := range m.Parts {
		t, ok := p.(utp.Think)
		if !ok || t.Text == "" {
			continue
		}
		var from origin
		if t.Provider == provider && len(out.ToolCalls) > 0 {
			_ = json.Unmarshal(t.Extra, &from)
		}
		switch from.Field {
		case "reasoning_content":
			out.ReasoningContent += t.Text
		case "reasoning":
			out.Reasoning += t.Text
		default:
			w.lose(path+".think", "dropped", "reasoning goes back only where the server asks for it")
		}
	}
}

// user writes what a user or the system says.
func (w *writing) user(path string, m utp.Message) any {
	var parts []contentPart
	blobs := false
	for i, p := range m.Parts {
		switch p := p.(type) {
		case utp.Text:
			parts = append(parts, contentPart{Type: "text", Text: p.Text})
		case utp.Blob:
			if url, ok := imageOf(p); ok {
				blobs, parts = true, append(parts, contentPart{Type: "image_url", Image: &imageURL{url}})
				continue
			}
			w.lose(fmt.Sprintf("%s.parts[%d]", path, i), "dropped", "only images can be sent, not "+p.MIME)
		default:
			w.lose(fmt.Sprintf("%s.parts[%d]", path, i), "dropped", "this part has no place in such a message")
		}
	}
	if !blobs {
		return textMessage{string(m.Role), m.Text()}
	}
	return partsMessage{string(m.Role), parts}
}

func imageOf(b utp.Blob) (url string, ok bool) {
	switch {
	case b.MIME != "" && !strings.HasPrefix(b.MIME, "image/"):
		return "", false
	case b.URL != "":
		return b.URL, true
	case b.MIME == "":
		return "", false
	}
	return "data:" + b.MIME + ";base64," + base64.StdEncoding.EncodeToString(b.Data), true
}
