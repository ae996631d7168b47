package prompt

import (
	"embed"
	"encoding/json"
	"strings"
	"text/template"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

//go:embed *.md
var files embed.FS

var words = template.Must(template.New("").Funcs(template.FuncMap{
	"line": toolLine, "deref": func(b *bool) bool { return *b }, "bullet": bullet, "elements": elementDefinition,
}).ParseFS(files, "*.md"))

// say runs a template. The templates are fixed and tested: they cannot fail on
// the data they get.
func say(name string, data any) string {
	var b strings.Builder
	if err := words.ExecuteTemplate(&b, name+".md", data); err != nil {
		return ""
	}
	return b.String()
}

// manifest is what the templates see.
type manifest struct {
	Example string // one printed call
	Item    grammar.Fence
	Tools   []offer
}

// offer is a tool with examples of its calls.
type offer struct {
	utp.Tool
	Basic, Advanced string // printed; Advanced is "" if no argument is optional
}

// Tools is the part of a system prompt that offers tools: how to write a call
// in this grammar, with an example, and every tool with its schema. Grammars
// whose results are observations get the Thought/Action form, those with nested
// XML elements the definitions as elements.
func Tools(g *grammar.Grammar, tools []utp.Tool) string {
	m := manifest{Item: g.Item}
	bare := true // the example so far shows no argument
	for _, t := range tools {
		basic, advanced := examples(t)
		o := offer{Tool: t, Basic: printSample(g, t, basic)}
		if advanced != nil {
			o.Advanced = printSample(g, t, advanced)
		}
		m.Tools = append(m.Tools, o)
		if m.Example == "" || bare && o.Basic != "" && string(basic) != "{}" {
			m.Example, bare = o.Basic, string(basic) == "{}"
		}
	}
	return strings.TrimSpace(say(form(g), m))
}

// form names the template for a grammar.
func form(g *grammar.Grammar) string {
	switch {
	case strings.HasPrefix(g.Result.Open, "Observation"):
		return "react"
	case g.XML && g.Item.Open != "":
		return "elements"
	}
	return "tools"
}

// printSample prints an example call, or "" if the grammar cannot say it.
func printSample(g *grammar.Grammar, t utp.Tool, args json.RawMessage) string {
	text, err := Call(g, utp.Call{Name: t.Name, Args: args})
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(text, g.Prefill)
}

// toolLine is a tool as one line of JSON.
func toolLine(t utp.Tool) string {
	text := `{"name": ` + quote(t.Name)
	if t.Description != "" {
		text += `, "description": ` + quote(t.Description)
	}
	return text + `, "parameters": ` + spaced(parameters(t)) + "}"
}

// parameters is a tool's schema; a tool without one takes an empty object, a
// custom tool one text.
func parameters(t utp.Tool) json.RawMessage {
	switch {
	case t.Kind == utp.CustomTool:
		return json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)
	case len(t.Schema) == 0 || !json.Valid(t.Schema):
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return t.Schema
}
