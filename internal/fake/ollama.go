package fake

import (
	"encoding/json"
	"strings"
)

// Shapes of Ollama's API. Source: Ollama docs/api.md and api/types.go.

const created = "2026-08-21T10:00:00Z"

type ollamaReply struct {
	Model     string        `json:"model"`
	Created   string        `json:"created_at"`
	Message   ollamaMessage `json:"message"`
	Done      bool          `json:"done"`
	Reason    string        `json:"done_reason,omitempty"`
	Total     int64         `json:"total_duration,omitempty"`
	PromptN   int           `json:"prompt_eval_count,omitempty"`
	EvalN     int           `json:"eval_count,omitempty"`
	EvalNanos int64         `json:"eval_duration,omitempty"`
}

type ollamaMessage struct {
	Role     string       `json:"role"`
	Content  string       `json:"content"`
	Thinking string       `json:"thinking,omitempty"`
	Calls    []ollamaCall `json:"tool_calls,omitempty"`
}

type ollamaCall struct {
	ID       string         `json:"id,omitempty"`
	Function ollamaFunction `json:"function"`
}

type ollamaFunction struct {
	Index     int             `json:"index"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (p *player) ollamaLine(m ollamaMessage) ollamaReply {
	m.Role = "assistant"
	return ollamaReply{Model: p.in.Model, Created: created, Message: m}
}

// done turns a line into the last one.
func (p *player) done(r ollamaReply) ollamaReply {
	r.Done, r.Reason = true, "stop"
	if p.turn.stop != "" {
		r.Reason = p.turn.stop
	}
	r.Total, r.EvalNanos = 5e9, 1e9
	r.PromptN, r.EvalN = p.turn.usage.prompt, p.turn.usage.completion
	return r
}

func (p *player) ollamaCall(st step) ollamaCall {
	c := ollamaCall{ID: p.id(st)}
	c.Function = ollamaFunction{p.calls - 1, st.name, arguments(st.text)}
	return c
}

// arguments are as the script has them: JSON as it stands, anything else as a string.
func arguments(text string) json.RawMessage {
	if text = strings.TrimSpace(text); json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	if text == "" {
		return json.RawMessage("{}")
	}
	b, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}

func (p *player) ollamaStream() error {
	for _, st := range p.turn.steps {
		if st.kind == "cut" {
			return cut(st)
		}
		if st.kind == "stream-error" {
			return p.frame(errorText{st.text})
		}
		for _, m := range p.ollamaMessages(st) {
			if err := p.frame(p.ollamaLine(m)); err != nil {
				return err
			}
		}
	}
	return p.frame(p.done(p.ollamaLine(ollamaMessage{})))
}

func (p *player) ollamaMessages(st step) (out []ollamaMessage) {
	switch st.kind {
	case "text":
		for _, s := range pieces(st.text, p.script.Chunk) {
			out = append(out, ollamaMessage{Content: s})
		}
	case "think":
		for _, s := range pieces(st.text, p.script.Chunk) {
			out = append(out, ollamaMessage{Thinking: s})
		}
	case "call":
		out = append(out, ollamaMessage{Calls: []ollamaCall{p.ollamaCall(st)}})
	}
	return out
}

func (p *player) ollamaWhole() ollamaReply {
	m := ollamaMessage{Content: p.joined("text"), Thinking: p.joined("think")}
	for _, st := range p.turn.steps {
		if st.kind == "call" {
			m.Calls = append(m.Calls, p.ollamaCall(st))
		}
	}
	return p.done(p.ollamaLine(m))
}
