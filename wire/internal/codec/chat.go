package codec

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Content is a text of a reply that servers send as a string, as null or as a
// list of parts, some of them reasoning (Mistral).
type Content struct{ Text, Think string }

type contentPart struct {
	Type     string      `json:"type"`
	Text     shape.Loose `json:"text"`
	Thinking shape.Value `json:"thinking"`
}

var readContentPart = shape.Of[contentPart]()

// ReadContent reads the forms above; others are empty.
func ReadContent(v shape.Value) (c Content) {
	if v.Kind() != '[' {
		return Content{Text: v.String()}
	}
	for _, v := range Listed(v) {
		if p, err := readContentPart.Read(v); err == nil {
			c.Text += string(p.Text)
			c.Think += ReadContent(p.Thinking).Text
		}
	}
	return c
}

// Listed is a list that servers also send as its only element.
func Listed(v shape.Value) []shape.Value {
	switch v.Kind() {
	case '{':
		return []shape.Value{v}
	case '[':
	default:
		return nil
	}
	list, err := v.Elements()
	if err != nil {
		return nil
	}
	return list
}

// looseCall is a call of a server or of a client's store, of which anything may be
// missing. The name and the arguments may stand in "function" or beside it, the
// name also as "function" itself.
type looseCall struct {
	Index    *shape.LooseInt `json:"index"`
	ID       shape.Loose     `json:"id"`
	Type     shape.Value     `json:"type"`
	Function shape.Value     `json:"function"`
	Name     shape.Loose     `json:"name"`
	FuncName shape.Loose     `json:"function_name"`
	ToolName shape.Loose     `json:"tool_name"`
	Args     shape.Value     `json:"arguments"`
	Params   shape.Value     `json:"parameters"` // Cohere
	Short    shape.Value     `json:"args"`       // LangChain
	Input    shape.Value     `json:"input"`      // Anthropic
	Shorter  shape.Value     `json:"params"`
	Rest     shape.Fields    `json:"-"`
}

var readLooseCall = shape.Of[looseCall]()

func (c *looseCall) name() string {
	return cmp.Or(string(c.Name), c.Function.String(), string(c.FuncName), string(c.ToolName))
}

func (c *looseCall) args() string {
	for _, v := range []shape.Value{c.Args, c.Params, c.Short, c.Input, c.Shorter} {
		if v.Kind() != 0 && v.Kind() != 'n' {
			return argText(v)
		}
	}
	return ""
}

// ReadCall reads an entry of tool_calls as OpenAI, the servers that copy it, Ollama
// and Cohere send it and as clients keep it, and what else stands in it. Of what is
// no object all is arguments; of null there is nothing.
func ReadCall(v shape.Value) (f Fragment, rest shape.Fields) {
	c, err := readLooseCall.Read(v)
	if err != nil {
		if f.Index = -1; v.Kind() != 'n' {
			f.Args = string(v.Raw)
		}
		return f, nil
	}
	f = Fragment{Index: -1, ID: string(c.ID)}
	if inner, err := readLooseCall.Read(c.Function); err == nil {
		f.Name, f.Args = inner.name(), inner.args()
	}
	f.Name, f.Args = cmp.Or(f.Name, c.name()), cmp.Or(f.Args, c.args())
	if c.Index != nil {
		f.Index = int(*c.Index)
	}
	return f, c.Rest
}

// ReadWholeCall reads an entry of which no more comes. All of one that says neither
// whom it calls nor with what is arguments, so that it is told as a problem.
func ReadWholeCall(v shape.Value) (f Fragment, rest shape.Fields) {
	f, rest = ReadCall(v)
	if f.Whole = true; f.Name == "" && f.Args == "" && rest.Get("custom") == nil && v.Kind() != 'n' {
		f.Args = string(v.Raw)
	}
	return f, rest
}

// argText is the JSON text of arguments that are a string of JSON or JSON.
func argText(v shape.Value) string {
	switch v.Kind() {
	case 0:
		return ""
	case '"':
		return v.String()
	}
	var b bytes.Buffer
	if json.Compact(&b, v.Raw) != nil {
		return ""
	}
	return b.String()
}
