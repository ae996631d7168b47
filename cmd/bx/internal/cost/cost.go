// Package cost measures what it takes, in tokens, to tell a model of tools in
// each form, to call one, and to answer the call.
//
// Text is counted as OpenAI's o200k_base cuts it, whose vocabulary is built in.
// The tokenizers of other models differ by some tenths; the ranks of the forms
// hardly do.
package cost

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// Row is what one form costs, in tokens.
type Row struct {
	Form   string  `json:"form"`
	Native bool    `json:"native"`   // in the provider's own field, counted as the JSON of the request
	Tools  int     `json:"tools"`    // to tell of all tools
	Each   float64 `json:"per_tool"` // Tools, for each tool
	Call   float64 `json:"per_call"` // a call with its required arguments and what is around its result, on average
	Share  float64 `json:"share"`    // Tools as a multiple of the cheapest form's
}

// form makes the text that a model or its server reads of a request.
type form struct {
	name   string
	native bool
	text   func(*utp.Request) (string, error)
}

// common are the dialects that are measured unless all are.
var common = []string{"hermes", "qwen3-coder", "llama3", "mistral", "pythonic", "react", "tool-use", "autobyteus",
	"openai-json", "gemini-json", "anthropic-json", "default-json"}

func forms(all bool) (out []form) {
	for name, b := range map[string]wire.Back{"openai": openai.Back{}, "anthropic": anthropic.Back{}, "gemini": gemini.Back{}, "ollama": ollama.Back{}} {
		out = append(out, form{name, true, func(r *utp.Request) (string, error) { return sent(b, r) }})
	}
	for _, g := range grammar.All() {
		if all || slices.Contains(common, g.Name) {
			out = append(out, form{g.Name, false, func(r *utp.Request) (string, error) { return told(g, r) }})
		}
	}
	return out
}

// sent is the body of a request.
func sent(b wire.Back, r *utp.Request) (string, error) {
	x, err := b.Open(r)
	if err != nil {
		return "", err
	}
	return string(x.Body), nil
}

// told is all text of a request with its tools in the prompt.
func told(g *grammar.Grammar, r *utp.Request) (string, error) {
	out, err := prompt.Render(g, r)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, m := range out.Messages {
		b.WriteString(m.Text() + "\n")
	}
	return b.String(), nil
}

// Counter counts the tokens of a text.
type Counter func(text string) (int, error)

// O200k counts as o200k_base does. Making one takes some 50 ms.
func O200k() Counter { return codec.NewO200kBase().Count }

// Measure lists the forms, the cheapest tool list first. Without tools there is
// nothing to measure. all is every dialect, else the common ones.
func Measure(tools []utp.Tool, count Counter, all bool) ([]Row, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	var rows []Row
	for _, f := range forms(all) {
		r, err := f.measure(tools, count)
		if err != nil {
			return nil, fmt.Errorf("cost of %s: %w", f.name, err)
		}
		rows = append(rows, r)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		if a.Tools != b.Tools {
			return a.Tools - b.Tools
		}
		return strings.Compare(a.Form, b.Form)
	})
	for i := range rows {
		rows[i].Share = float64(rows[i].Tools) / float64(rows[0].Tools)
	}
	return rows, nil
}

// measure counts what each piece adds to a conversation.
func (f form) measure(tools []utp.Tool, count Counter) (Row, error) {
	var fault error
	tokens := func(messages []utp.Message, tools []utp.Tool) int {
		text, err := f.text(&utp.Request{Model: "m", Messages: messages, Tools: tools})
		n := 0
		if err == nil {
			n, err = count(text)
		}
		if err != nil && fault == nil {
			fault = err
		}
		return n
	}
	question := []utp.Message{utp.NewText(utp.RoleSystem, "You help."), utp.NewText(utp.RoleUser, "?")}
	bare, offered := tokens(question, nil), tokens(question, tools)
	row := Row{Form: f.name, Native: f.native, Tools: offered - bare}
	row.Each = float64(row.Tools) / float64(len(tools))
	for _, t := range tools {
		row.Call += float64(tokens(called(question, t), tools)-offered) / float64(len(tools))
	}
	return row, fault
}

// called is a conversation with a call and its answer behind it. The answer is
// empty, so that what is around it is left.
func called(ms []utp.Message, t utp.Tool) []utp.Message {
	c := utp.Call{ID: "call_1", Name: t.Name, Args: prompt.Example(t)}
	return append(slices.Clone(ms), utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{c}},
		utp.Message{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, "")}})
}
