package codec

import (
	"bytes"
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

// looseCall is a call of a server, of which anything may be missing. The name and
// the arguments may stand in "function" or beside it.
type looseCall struct {
	Index    *shape.LooseInt `json:"index"`
	ID       shape.Loose     `json:"id"`
	Type     shape.Value     `json:"type"`
	Function shape.Value     `json:"function"`
	Name     shape.Loose     `json:"name"`
	Args     shape.Value     `json:"arguments"`
	Params   shape.Value     `json:"parameters"`
	Rest     shape.Fields    `json:"-"`
}

var readLooseCall = shape.Of[looseCall]()

// ReadCall reads an entry of tool_calls, as OpenAI, the servers that copy it and
// Ollama send it, and what else stands in it. Of what is no object all is
// arguments; of null there is nothing.
func ReadCall(v shape.Value) (f Fragment, rest shape.Fields) {
	c, err := readLooseCall.Read(v)
	if err != nil {
		if f.Index = -1; v.Kind() != 'n' {
			f.Args = string(v.Raw)
		}
		return f, nil
	}
	inner, err := readLooseCall.Read(c.Function)
	if err != nil || inner.Name == "" && inner.Args.IsZero() {
		inner = c
	}
	f = Fragment{Index: -1, ID: string(c.ID), Name: string(inner.Name), Args: argText(inner.Args)}
	if inner.Args.IsZero() {
		f.Args = argText(inner.Params)
	}
	if c.Index != nil {
		f.Index = int(*c.Index)
	}
	return f, c.Rest
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
