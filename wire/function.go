package wire

import (
	"bytes"
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
)

// chatTool is a tool as chat completions and Ollama have it. Clients are known to
// write the function beside the type.
type chatTool struct {
	Type     string `json:"type"`
	Function Value  `json:"function,omitzero"`
	Custom   Value  `json:"custom,omitzero"`
	Rest     Fields `json:"-"`
}

type chatFunction struct {
	Type        string          `json:"type,omitempty"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict,omitempty"`
	Rest        Fields          `json:"-"`
}

var (
	readChatTool     = ShapeOf[chatTool]()
	readChatFunction = ShapeOf[chatFunction]()
)

// inFunction is, in a tool's Extra, what stood in its function.
const inFunction = "function"

// ReadFunction reads a tool of a client of provider: a function, a custom tool,
// or for any other type one that only the provider runs.
func ReadFunction(v Value, provider string) (utp.Tool, *InputError) {
	t, err := readChatTool.Read(v)
	if err != nil {
		return utp.Tool{}, err
	}
	out := utp.Tool{Name: t.Type, Kind: utp.HostedTool}
	inner, path, rest := v, "", Fields(nil)
	switch {
	case !t.Function.IsZero():
		inner, path, rest, out.Kind = t.Function, "function", t.Rest, utp.FunctionTool
	case !t.Custom.IsZero():
		inner, path, rest, out.Kind = t.Custom, "custom", t.Rest, utp.CustomTool
	case t.Type == "function", t.Type == "":
		out.Kind = utp.FunctionTool
	case t.Type == "custom":
		out.Kind = utp.CustomTool
	default:
		all, err := Members(v)
		out.Extra = PackExtra(provider, all)
		return out, err
	}
	f, err := readChatFunction.Read(inner)
	if err != nil {
		return out, Inside(err, path, -1)
	}
	out.Name, out.Description, out.Schema, out.Strict = f.Name, f.Description, f.Parameters, f.Strict
	switch {
	case out.Kind == utp.CustomTool:
		rest = append(rest, f.Rest...)
	case len(f.Rest) > 0:
		rest = append(rest, Field{inFunction, marshalFields(f.Rest)})
	}
	out.Extra = PackExtra(provider, rest)
	return out, nil
}

// Function writes a tool as a function. A custom tool becomes one of one text; a
// tool that another provider runs cannot be written: ok is false.
func (o *Outgoing) Function(path string, t utp.Tool, n *Names) (v Value, ok bool) {
	f := chatFunction{Name: n.Out(t.Name), Description: t.Description, Parameters: t.Schema, Strict: t.Strict}
	own := o.Own(path, t.Extra)
	switch {
	case t.Kind == utp.HostedTool && len(own) > 0:
		return JSON(own, nil), true
	case t.Kind == utp.CustomTool:
		f.Description, f.Parameters = CustomFunction(t)
		f.Strict, own = nil, nil
		o.Lose(path, "sent as a function with one text", "free text tools are not known here")
	case t.Kind != utp.FunctionTool:
		o.Lose(path, "dropped", "a "+string(t.Kind)+" tool cannot be offered here")
		return Value{}, false
	case len(bytes.TrimSpace(t.Schema)) == 0 || !IsObject(t.Schema):
		f.Parameters = noParameters
	}
	if f.Name != t.Name {
		o.Lose(path+".name", "sent as "+f.Name, "only letters, digits, _ and - are allowed, 64 at most")
	}
	inner := readChatFunction.Write(f, members(own.Get(inFunction)))
	return Value{Raw: readChatTool.Write(chatTool{Type: "function", Function: Value{Raw: inner}}, own.Without(inFunction))}, true
}
