package prompt

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/template"
)

//go:embed *.md
var files embed.FS

var words = sync.OnceValue(func() template.Set { return template.Must(template.Files(files)) })

// say runs a template. The templates are fixed and tested: they cannot fail on
// the data they get.
func say(name string, data any) string {
	text, err := words().Execute(name+".md", data)
	if err != nil {
		return ""
	}
	return text
}

// form is a way to list tools: the template of the list, and how one tool is
// described in it.
type form struct {
	template string
	define   func(utp.Tool) string
}

// forms are those that a grammar may name as its manifest. Sources of the JSON
// forms: the APIs of OpenAI, Gemini and Anthropic, and Autobyteus' default.
var forms = map[string]form{
	"":           {"lines", toolLine},
	"lines":      {"lines", toolLine},
	"functions":  {"lines", functionLine},
	"react":      {"react", bullet},
	"elements":   {"elements", elementDefinition},
	"openai":     {"schemas", schemaUnder("parameters", true)},
	"gemini":     {"schemas", schemaUnder("parameters", false)},
	"anthropic":  {"schemas", schemaUnder("input_schema", false)},
	"autobyteus": {"schemas", schemaUnder("inputSchema", false)},
}

// manifest is what the templates see.
type manifest struct {
	Example string // one printed call
	Item    grammar.Fence
	Tools   []Offer
	List    string
}

// list is the tools as lines, or as a JSON list, in the fence of a grammar.
func list(tools []Offer, fence grammar.Fence) string {
	lines := make([]string, len(tools))
	for i, o := range tools {
		lines[i] = or(o.Text, o.Definition)
	}
	separator := "\n"
	if strings.HasSuffix(fence.Open, "[") {
		separator = ", "
	}
	return fence.Open + strings.Join(lines, separator) + fence.Close
}

// Offer is a tool as a list of tools shows it: what its custom template sees.
type Offer struct {
	utp.Tool
	Definition string // in the form of the list
	Basic      string // a call with the required arguments; "" if the dialect cannot say it
	Advanced   string // a call with all arguments; "" if none is optional
	Text       string // what its custom template made of it; "": there is none
}

// Tools is the part of a system prompt that offers tools: how to write a call
// in this grammar, with an example, and every tool with its schema, in the form
// that the grammar names as its manifest.
func Tools(g *grammar.Grammar, tools []utp.Tool) string {
	text, err := Writer{Grammar: g}.Tools(tools)
	if err != nil {
		return "" // without templates of others nothing can fail
	}
	return text
}

// Writer writes requests in one grammar.
type Writer struct {
	Grammar *grammar.Grammar
	Custom  map[string]string // by tool name: a template (text/template's language) over an Offer that replaces the tool's place in the list
	Append  bool              // {{tools}} is text like any other: the list goes to the end
	Warn    func(error)       // of a tool that cannot be described and is left out; nil: nowhere
}

// Tools is like the function of its name. It fails if a custom template does;
// the error names the tool.
func (w Writer) Tools(tools []utp.Tool) (string, error) {
	f := forms[w.Grammar.Manifest]
	m := manifest{Item: w.Grammar.Item}
	bare := true // the example so far shows no argument
	for _, t := range tools {
		o, basic, err := w.offer(f, t)
		if err != nil {
			return "", err
		}
		if o == nil {
			continue
		}
		m.Tools = append(m.Tools, *o)
		if m.Example == "" || bare && o.Basic != "" && string(basic) != "{}" {
			m.Example, bare = o.Basic, string(basic) == "{}"
		}
	}
	if len(m.Tools) == 0 {
		return "", nil
	}
	m.List = list(m.Tools, w.Grammar.List)
	return strings.TrimSpace(say(f.template, m)), nil
}

// errSchema is a tool whose schema is no JSON.
var errSchema = errors.New("its schema is not JSON: it is not offered")

// offer describes a tool; nil if that cannot be done.
func (w Writer) offer(f form, t utp.Tool) (o *Offer, basic json.RawMessage, err error) {
	if len(t.Schema) > 0 && !json.Valid(t.Schema) {
		if w.Warn != nil {
			w.Warn(fmt.Errorf("prompt: tool %q: %w", t.Name, errSchema))
		}
		return nil, nil, nil
	}
	basic, advanced := examples(t)
	o = &Offer{Tool: t, Definition: f.define(t), Basic: printSample(w.Grammar, t, basic)}
	if advanced != nil {
		o.Advanced = printSample(w.Grammar, t, advanced)
	}
	if text, ok := w.Custom[t.Name]; ok {
		o.Text, err = custom(t.Name, text, o)
	}
	return o, basic, err
}

// CheckTemplate reports a custom template that cannot be used.
func CheckTemplate(text string) error {
	o := Offer{Tool: utp.Tool{Name: "tool"}, Definition: "definition", Basic: "call", Advanced: "call"}
	_, err := custom("template", text, &o)
	return errors.Unwrap(err)
}

// templateError adds to an error what a template may use.
type templateError struct{ err error }

func (e *templateError) Error() string {
	return e.err.Error() + ": want .Name, .Description, .Definition, .Basic or .Advanced"
}

func (e *templateError) Unwrap() error { return e.err }

// custom runs the template of a tool.
func custom(name, text string, o *Offer) (string, error) {
	t, err := template.New(name, text)
	if err != nil {
		return "", fmt.Errorf("prompt: template of tool %q: %w", name, err)
	}
	if text, err = t.Execute(name, o); err != nil {
		return "", fmt.Errorf("prompt: template of tool %q: %w", name, &templateError{err})
	}
	return strings.TrimSpace(text), nil
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
	return spaced(definition(t, "parameters"))
}

// functionLine is a tool as one line of JSON in the envelope of OpenAI's API.
func functionLine(t utp.Tool) string { return spaced(function(definition(t, "parameters"))) }

func function(definition json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"type":"function","function":` + string(definition) + `}`)
}

// schemaUnder describes a tool as indented JSON with the schema under key, as
// OpenAI does inside an object of type function.
func schemaUnder(key string, wrap bool) func(utp.Tool) string {
	return func(t utp.Tool) string {
		d := definition(t, key)
		if wrap {
			d = function(d)
		}
		return indented(d)
	}
}

// definition is a tool as JSON, its schema as it stands under key.
func definition(t utp.Tool, key string) json.RawMessage {
	text := `{"name":` + quote(t.Name)
	if t.Description != "" {
		text += `,"description":` + quote(t.Description)
	}
	return json.RawMessage(text + "," + quote(key) + ":" + string(parameters(t)) + "}")
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
