package fake

import (
	"encoding/json"
	"strings"
)

// Shapes of Ollama's API. Source: Ollama docs/api.md and api/types.go.

const created = "2026-08-21T10:00:00Z"

type ollamaReply struct {
	Model     string         `json:"model"`
	Created   string         `json:"created_at"`
	Message   *ollamaMessage `json:"message,omitempty"`
	Response  *string        `json:"response,omitempty"` // of /api/generate
	Thinking  string         `json:"thinking,omitempty"` // of /api/generate
	Done      bool           `json:"done"`
	Reason    string         `json:"done_reason,omitempty"`
	Total     int64          `json:"total_duration,omitempty"`
	Load      int64          `json:"load_duration,omitempty"`
	PromptN   int            `json:"prompt_eval_count,omitempty"`
	PromptNs  int64          `json:"prompt_eval_duration,omitempty"`
	EvalN     int            `json:"eval_count,omitempty"`
	EvalNanos int64          `json:"eval_duration,omitempty"`
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
	return p.in.ollamaLine(p.path, m)
}

func (in *chatRequest) ollamaLine(path string, m ollamaMessage) ollamaReply {
	r := ollamaReply{Model: in.Model, Created: created}
	if path == "/api/generate" {
		r.Response, r.Thinking = &m.Content, m.Thinking
		return r
	}
	m.Role = "assistant"
	r.Message = &m
	return r
}

// loadReply answers a request that only loads or unloads a model.
func (in *chatRequest) loadReply(path, reason string) ollamaReply {
	r := in.ollamaLine(path, ollamaMessage{})
	r.Done, r.Reason = true, reason
	return r
}

// done turns a line into the last one.
func (p *player) done(r ollamaReply) ollamaReply {
	r.Done, r.Reason = true, "stop"
	if p.turn.stop != "" {
		r.Reason = p.turn.stop
	}
	r.Total, r.Load, r.PromptNs, r.EvalNanos = 5e9, 1e6, 2e9, 1e9
	r.PromptN, r.EvalN = p.promptTokens(), p.turn.usage.completion
	return r
}

// promptTokens is what Ollama says of a prompt: one that it cut in silence fills
// the window.
func (p *player) promptTokens() int {
	n := p.turn.usage.prompt
	if p.in.window > 0 && p.in.tokens > p.in.window {
		return p.in.window
	}
	if p.in.window > 0 {
		return min(n, p.in.window)
	}
	return n
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
