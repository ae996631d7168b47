package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// ChatMessage is an assistant message as OpenAI's chat completions, the servers
// that copy them, and Ollama send it, whole or as a delta.
type ChatMessage struct {
	Content          ChatContent       `json:"content"`
	Refusal          shape.Loose       `json:"refusal"`
	ReasoningContent ChatContent       `json:"reasoning_content"` // DeepSeek, llama.cpp, older vLLM
	Reasoning        ChatContent       `json:"reasoning"`         // OpenRouter, vLLM, Ollama's /v1
	Thinking         ChatContent       `json:"thinking"`          // Ollama
	ToolCalls        []json.RawMessage `json:"tool_calls"`
}

// UnmarshalJSON takes tool_calls that are an object or null as well as a list.
func (m *ChatMessage) UnmarshalJSON(b []byte) error {
	type plain ChatMessage
	var j struct {
		plain
		ToolCalls json.RawMessage `json:"tool_calls"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*m = ChatMessage(j.plain)
	switch raw := bytes.TrimSpace(j.ToolCalls); {
	case len(raw) > 0 && raw[0] == '[':
		return json.Unmarshal(raw, &m.ToolCalls)
	case len(raw) > 0 && raw[0] == '{':
		m.ToolCalls = []json.RawMessage{json.RawMessage(raw)}
	}
	return nil
}

// ChatContent is a text that servers send as a string, as null or as a list of
// parts, some of them reasoning (Mistral).
type ChatContent struct{ Text, Think string }

type contentPart struct {
	Type     string      `json:"type"`
	Text     shape.Loose `json:"text"`
	Thinking ChatContent `json:"thinking"`
}

// UnmarshalJSON reads the forms above; others are empty.
func (c *ChatContent) UnmarshalJSON(b []byte) error {
	var parts []contentPart
	switch {
	case len(b) > 0 && b[0] == '"':
		return json.Unmarshal(b, &c.Text)
	case json.Unmarshal(b, &parts) != nil:
		return nil
	}
	for _, p := range parts {
		c.Text += string(p.Text)
		c.Think += p.Thinking.Text
	}
	return nil
}

// Reason is the reasoning of the message and the field that it came in. A
// server that sends it in two fields sends it twice.
func (m *ChatMessage) Reason() (text, field string) {
	for _, f := range []struct{ text, field string }{
		{m.ReasoningContent.Text, "reasoning_content"}, {m.Reasoning.Text, "reasoning"}, {m.Thinking.Text, "thinking"},
	} {
		if f.text != "" {
			return f.text, f.field
		}
	}
	return m.Content.Think, "content"
}

type callEntry struct {
	Index    *shape.LooseInt `json:"index"`
	ID       shape.Loose     `json:"id"`
	Function json.RawMessage `json:"function"`
}

type callPayload struct {
	Name       shape.Loose     `json:"name"`
	Arguments  json.RawMessage `json:"arguments"`
	Parameters json.RawMessage `json:"parameters"`
}

// Fragments reads tool_calls. The name and arguments may stand in "function" or
// beside it, the arguments may be a string or an object. whole says that each
// entry is a call of its own.
func (m *ChatMessage) Fragments(whole bool) []Fragment {
	var out []Fragment
	for _, raw := range m.ToolCalls {
		if f, ok := fragment(raw); ok {
			f.Whole = whole
			out = append(out, f)
		}
	}
	return out
}

func fragment(raw json.RawMessage) (Fragment, bool) {
	var e callEntry
	var p callPayload
	if json.Unmarshal(raw, &e) != nil {
		return Fragment{Index: -1, Args: string(raw)}, len(raw) > 0 && string(raw) != "null"
	}
	if json.Unmarshal(e.Function, &p) != nil || p.Name == "" && p.Arguments == nil {
		_ = json.Unmarshal(raw, &p)
	}
	f := Fragment{Index: -1, ID: string(e.ID), Name: string(p.Name), Args: argText(p.Arguments)}
	if p.Arguments == nil {
		f.Args = argText(p.Parameters)
	}
	if e.Index != nil {
		f.Index = int(*e.Index)
	}
	return f, true
}

// argText is the JSON text of arguments that are a string of JSON or JSON.
func argText(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if string(raw) == "null" || json.Compact(&b, raw) != nil {
		return ""
	}
	return b.String()
}

// FunctionTool is a tool as chat completions and Ollama take it.
type FunctionTool struct {
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function is the body of a FunctionTool.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict,omitempty"`
}

var (
	noParameters = json.RawMessage(`{"type":"object","properties":{}}`)
	textInput    = json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)
)

// Functions writes tools. A custom tool becomes a function of one text; tools
// that only their provider runs are left out.
func Functions(tools []utp.Tool, n *Names) (out []FunctionTool, losses []wire.Loss) {
	for i, t := range tools {
		f := Function{Name: n.Out(t.Name), Description: t.Description, Parameters: t.Schema, Strict: t.Strict}
		path := fmt.Sprintf("tools[%d]", i)
		switch {
		case t.Kind == utp.CustomTool:
			f.Description, f.Parameters = CustomFunction(t)
			f.Strict = nil
			losses = append(losses, wire.Loss{Path: path, What: "sent as a function with one text", Why: "free text tools are not known here"})
		case t.Kind != utp.FunctionTool:
			losses = append(losses, wire.Loss{Path: path, What: "dropped", Why: "a " + string(t.Kind) + " tool cannot be offered here"})
			continue
		case len(bytes.TrimSpace(t.Schema)) == 0 || !shape.IsObject(t.Schema):
			f.Parameters = noParameters
		}
		if f.Name != t.Name {
			losses = append(losses, wire.Loss{Path: path + ".name", What: "sent as " + f.Name, Why: "only letters, digits, _ and - are allowed, 64 at most"})
		}
		out = append(out, FunctionTool{"function", f})
	}
	return out, losses
}

// Offered lists the tools that a choice leaves, and whether any were left out.
func Offered(tools []utp.Tool, c utp.Choice) (left []utp.Tool, filtered bool) {
	allowed := c.Allowed
	switch {
	case c.Mode == utp.Named:
		allowed = []string{c.Name}
	case len(allowed) == 0:
		return tools, false
	}
	for _, t := range tools {
		if slices.Contains(allowed, t.Name) {
			left = append(left, t)
		}
	}
	return left, len(left) < len(tools)
}
