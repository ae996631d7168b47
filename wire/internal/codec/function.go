package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// chatTool is a tool as chat completions and Ollama have it. Clients are known to
// write the function beside the type.
type chatTool struct {
	Type     string       `json:"type"`
	Function shape.Value  `json:"function,omitzero"`
	Custom   shape.Value  `json:"custom,omitzero"`
	Rest     shape.Fields `json:"-"`
}

type chatFunction struct {
	Type        string          `json:"type,omitempty"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict,omitempty"`
	Rest        shape.Fields    `json:"-"`
}

var (
	readChatTool     = shape.Of[chatTool]()
	readChatFunction = shape.Of[chatFunction]()
)

var (
	noParameters = json.RawMessage(`{"type":"object","properties":{}}`)
	textInput    = json.RawMessage(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`)
)

// inFunction is, in a tool's Extra, what stood in its function.
const inFunction = "function"

// ReadFunction reads a tool of a client of provider: a function, a custom tool,
// or for any other type one that only the provider runs.
func ReadFunction(v shape.Value, provider string) (utp.Tool, *shape.Error) {
	t, err := readChatTool.Read(v)
	if err != nil {
		return utp.Tool{}, err
	}
	out := utp.Tool{Name: t.Type, Kind: utp.HostedTool}
	inner, path, rest := v, "", shape.Fields(nil)
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
		all, err := shape.Members(v)
		out.Extra = PackExtra(provider, all)
		return out, err
	}
	f, err := readChatFunction.Read(inner)
	if err != nil {
		return out, shape.Inside(err, path, -1)
	}
	out.Name, out.Description, out.Schema, out.Strict = f.Name, f.Description, f.Parameters, f.Strict
	switch {
	case out.Kind == utp.CustomTool:
		rest = append(rest, f.Rest...)
	case len(f.Rest) > 0:
		rest = append(rest, shape.Field{Name: inFunction, Value: f.Rest.Raw()})
	}
	out.Extra = PackExtra(provider, rest)
	return out, nil
}

// Function writes a tool as a function. A custom tool becomes one of one text; a
// tool that another provider runs cannot be written: ok is false.
func (o *Outgoing) Function(path string, t utp.Tool, n *Names) (v shape.Value, ok bool) {
	f := chatFunction{Name: n.Out(t.Name), Description: t.Description, Parameters: t.Schema, Strict: t.Strict}
	own, _ := UnpackExtra(t.Extra, o.Provider)
	if t.Kind == utp.FunctionTool || t.Kind == utp.CustomTool {
		own = o.Own(path, t.Extra)
	}
	switch {
	case t.Kind == utp.HostedTool && len(own) > 0:
		return shape.Value{Raw: own.Raw()}, true
	case t.Kind == utp.CustomTool:
		f.Description, f.Parameters = CustomFunction(t)
		o.Explained(path + ".format")
		f.Strict, own = nil, nil
		o.Lose(path, "sent as a function with one text", "free text tools are not known here")
	case t.Kind != utp.FunctionTool:
		o.Lose(path, "dropped", "a "+string(t.Kind)+" tool cannot be offered here")
		return shape.Value{}, false
	case len(bytes.TrimSpace(t.Schema)) == 0 || !shape.IsObject(t.Schema):
		f.Parameters = noParameters
	}
	if f.Name != t.Name {
		o.Lose(path+".name", "sent as "+f.Name, "only letters, digits, _ and - are allowed, 64 at most")
	}
	var beside shape.Fields
	if raw := own.Get(inFunction); raw != nil {
		beside, _ = shape.Members(shape.Value{Raw: raw})
	}
	raw := readChatFunction.Between(`{"type":"function","function":`, &f, beside, "}")
	return shape.Value{Raw: own.Without(inFunction).Behind(raw)}, true
}

// CheckTools wants a name for every tool, and each name once.
func CheckTools(tools []utp.Tool) *shape.Error {
	seen := map[string]bool{}
	for i, t := range tools {
		path := fmt.Sprintf("tools[%d].name", i)
		switch {
		case t.Name == "":
			return &shape.Error{Path: path, Offset: -1, Want: "a name"}
		case seen[t.Name]:
			return &shape.Error{Path: path, Offset: -1, Want: "every name once, not a second " + t.Name}
		}
		seen[t.Name] = true
	}
	return nil
}

// Explained says of a loss at path that its content is in a tool's description.
func (o *Outgoing) Explained(path string) {
	for i := range o.Losses {
		if l := &o.Losses[i]; l.Path == path {
			l.What, l.Why = "moved to the description", "free text has no grammar here"
		}
	}
}

// Offers reports whether a choice leaves a tool.
func Offers(c utp.Choice, tool string) bool {
	if c.Mode == utp.Named {
		return tool == c.Name
	}
	return len(c.Allowed) == 0 || slices.Contains(c.Allowed, tool)
}

// Schema gives a function the schema that OpenAI's own APIs take: a strict one
// where the tool is strict and can be. back undoes it in the calls' arguments.
func (o *Outgoing) Schema(path string, t *utp.Tool) (back *dialect.Coercion) {
	if t.Strict != nil && *t.Strict {
		schema, back, ok := dialect.Strict.Convert(t.Schema, path+".parameters", o.Lose)
		if ok {
			t.Schema = schema
			return back
		}
		t.Strict = nil
		o.Lose(path+".strict", "dropped", "a strict schema cannot have open objects or values of any type")
	}
	t.Schema, _, _ = dialect.RootObject.Convert(t.Schema, path+".parameters", o.Lose)
	return nil
}
