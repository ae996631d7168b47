package codec

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

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
func (n *ToolNames) ReadFunction(v shape.Value, provider string) (utp.Tool, *shape.Error) {
	t, f := &n.tool, &n.function
	*t, *f = chatTool{}, chatFunction{}
	if err := readChatTool.Into(t, v); err != nil {
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
		if out.Extra = PackExtra(provider, all); err == nil {
			err = n.Add(out.Name, v)
		}
		return out, err
	}
	err := readChatFunction.Into(f, inner)
	if err == nil {
		err = n.Add(f.Name, inner)
	}
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
	at := len(o.functions)
	o.functions = readChatFunction.Onto(o.functions, `{"type":"function","function":`, &f, beside, "}")
	o.functions = own.Without(inFunction).Behind(o.functions)
	return shape.Value{Raw: slices.Clip(o.functions[at:])}, true
}

// Room makes room for tools that Function will write.
func (o *Outgoing) Room(tools []utp.Tool) {
	const around = 96 // bytes of JSON
	n := 0
	for i := range tools {
		n += around + len(tools[i].Name) + len(tools[i].Description) + len(tools[i].Schema)
	}
	o.functions = slices.Grow(o.functions, n)
}

// ToolNames are the names of a client's tools so far. The zero value is ready.
type ToolNames struct {
	seen map[string]bool

	tool     chatTool // the one that is read
	function chatFunction
}

// Add takes the name of the tool at v: every tool has one, and no two the same.
func (n *ToolNames) Add(name string, v shape.Value) *shape.Error {
	switch {
	case name == "":
		return &shape.Error{Path: "name", Offset: v.Offset, Want: "a name"}
	case n.seen[name]:
		return &shape.Error{Path: "name", Offset: v.Offset, Want: "every name once, not a second " + name}
	case n.seen == nil:
		n.seen = map[string]bool{}
	}
	n.seen[name] = true
	return nil
}

// Free is a name that no other tool has: the one given, if need be with a number.
func (n *ToolNames) Free(name string) string {
	free := name
	for i := 2; n.Add(free, shape.Value{}) != nil; i++ {
		free = name + "_" + strconv.Itoa(i)
	}
	return free
}

// Explained says of a loss at path that its content is in a tool's description.
func (o *Outgoing) Explained(path string) {
	for i := range o.Losses {
		if l := &o.Losses[i]; l.Path == path {
			l.What, l.Why = "moved to the description", "free text has no grammar here"
		}
	}
}

// Offered refuses a choice of a tool that is not there.
func Offered(c utp.Choice, tools []utp.Tool) *shape.Error {
	for _, name := range append([]string{c.Name}, c.Allowed...) {
		if name != "" && !slices.ContainsFunc(tools, func(t utp.Tool) bool { return t.Name == name }) {
			return &shape.Error{Offset: -1, Want: "the name of a tool that is offered, not " + name}
		}
	}
	return nil
}

// Offers reports whether a choice leaves a tool.
func Offers(c utp.Choice, tool string) bool {
	if c.Mode == utp.ChoiceNamed {
		return tool == c.Name
	}
	return len(c.Allowed) == 0 || slices.Contains(c.Allowed, tool)
}

// Choose is a request's choice among the tools that can be sent: not those that
// another provider runs.
func (o *Outgoing) Choose(r *utp.Request) utp.Choice {
	c := r.Choice
	if c.Mode == utp.ChoiceNamed && Offered(utp.Choice{Name: c.Name}, r.Tools) != nil {
		o.Lose("choice.mode", "left to the model", c.Name+" is not offered")
		c.Mode, c.Name = utp.ChoiceAuto, ""
	}
	if c.Mode == utp.ChoiceNamed && o.gone(r.Tools, c.Name) {
		o.Lose("choice.mode", "left to the model", c.Name+" cannot be offered here")
		c.Mode, c.Name = utp.ChoiceAuto, ""
	}
	left := slices.DeleteFunc(slices.Clone(c.Allowed), func(name string) bool { return o.gone(r.Tools, name) })
	if len(left) == len(c.Allowed) {
		return c
	}
	o.Lose("choice.allowed", "sent without those that cannot be offered", "another provider runs them")
	switch c.Allowed = left; {
	case len(left) > 0:
	case slices.ContainsFunc(r.Tools, func(t utp.Tool) bool { return !o.theirs(t) }):
		o.Lose("choice.mode", "no call is allowed", "none of the allowed tools can be offered here")
		c.Mode = utp.ChoiceNone
	default:
		c.Mode = utp.ChoiceAuto
	}
	return c
}

func (o *Outgoing) gone(tools []utp.Tool, name string) bool {
	i := slices.IndexFunc(tools, func(t utp.Tool) bool { return t.Name == name })
	return i >= 0 && o.theirs(tools[i])
}

// theirs reports a tool that only another provider runs.
func (o *Outgoing) theirs(t utp.Tool) bool {
	if t.Kind != utp.HostedTool {
		return false
	}
	own, _ := UnpackExtra(t.Extra, o.Provider)
	return len(own) == 0
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
