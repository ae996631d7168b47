// Package prompting writes tools and conversations as the text of a dialect, for a
// line of `bx parse --jsonl` that asks for it.
package prompting

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// Known reads what a line names.
type Known struct {
	Tools   func(list []byte) ([]utp.Tool, error)
	Dialect func(name, model string) (*grammar.Grammar, error) // to write in
}

// Rendered is the answer: Text or Messages.
type Rendered struct {
	Grammar  string          `json:"grammar"`
	Text     *string         `json:"text,omitempty"`
	Messages json.RawMessage `json:"messages,omitempty"`
}

// Render reads {"grammar","model","tools","messages","tool_choice"} and tells the
// tools as the text of a dialect: their list alone, or messages of OpenAI's chat with
// the list, earlier calls and their results in them.
func (k Known) Render(line []byte) (out Rendered, err error) {
	var l struct {
		Grammar  string          `json:"grammar"`
		Model    string          `json:"model"`
		Tools    json.RawMessage `json:"tools"`
		Messages json.RawMessage `json:"messages"`
		Choice   json.RawMessage `json:"tool_choice"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return out, err
	}
	g, err := k.Dialect(l.Grammar, l.Model)
	if err != nil {
		return out, err
	}
	var tools []utp.Tool
	if l.Tools != nil {
		if tools, err = k.Tools(l.Tools); err != nil {
			return out, err
		}
	}
	out.Grammar = g.Name
	if l.Messages != nil {
		out.Messages, err = conversation(g, tools, l.Messages, l.Choice)
		return out, err
	}
	text := prompt.Tools(g, tools)
	out.Text = &text
	return out, nil
}

// conversation is messages of OpenAI's chat for a model without tools.
func conversation(g *grammar.Grammar, tools []utp.Tool, messages, choice json.RawMessage) (json.RawMessage, error) {
	type named struct {
		Name string `json:"name"`
	}
	type offered struct {
		Type     string `json:"type"`
		Function named  `json:"function"`
	}
	type chat struct {
		Model    string          `json:"model"`
		Messages json.RawMessage `json:"messages"`
		Tools    []offered       `json:"tools,omitempty"` // that the choice may name
		Choice   json.RawMessage `json:"tool_choice,omitempty"`
	}
	ask := chat{Model: "-", Messages: messages, Choice: choice}
	for _, t := range tools {
		ask.Tools = append(ask.Tools, offered{"function", named{t.Name}})
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return nil, err
	}
	r, _, err := openai.Front{}.Read(wire.HTTPRequest{Method: "POST", Path: "/v1/chat/completions", Body: body})
	if err != nil {
		return nil, err
	}
	r.Tools = tools
	if r, err = prompt.Render(g, r); err != nil {
		return nil, err
	}
	x, err := openai.Back{}.Open(r)
	if err != nil {
		return nil, err
	}
	var out chat
	err = json.Unmarshal(x.Body, &out)
	return out.Messages, err
}
