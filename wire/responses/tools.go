package responses

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

func (w *writing) tools() {
	c := w.in.Choice
	for i := 0; i < len(w.in.Tools); i++ {
		t := w.in.Tools[i]
		path := fmt.Sprintf("tools[%d]", i)
		own, _ := codec.UnpackExtra(t.Extra, provider)
		if t.Kind == utp.FunctionTool || t.Kind == utp.CustomTool {
			own = w.Own(path, t.Extra)
		}
		m, inside := w.members[t.Name]
		switch {
		case !inside:
			w.tool(path, t, own)
		case len(w.spaces) > 0 && w.spaces[len(w.spaces)-1] == m.namespace && w.lastSpace == len(w.out.Tools):
			w.addMember(path, t, own)
		default:
			w.spaces = append(w.spaces, m.namespace)
			w.group = toolJSON{Type: "namespace", Name: m.namespace, Description: own.Text(namespaceText)}
			w.out.Tools = append(w.out.Tools, shape.Value{})
			w.lastSpace = len(w.out.Tools)
			w.addMember(path, t, own)
		}
	}
	if len(w.out.Tools) == 0 {
		return
	}
	w.out.Parallel = c.Parallel
	w.choice(c)
}

// addMember adds a tool to the namespace that was written last.
func (w *writing) addMember(path string, t utp.Tool, own shape.Fields) {
	t.Name = w.members[t.Name].name
	v, ok := w.define(path, t, own.Without(inNamespace, namespaceText, nameInNamespace))
	if ok {
		w.group.Tools = append(w.group.Tools, v)
		w.out.Tools[w.lastSpace-1] = shape.JSON(w.group, nil)
	}
}

func (w *writing) tool(path string, t utp.Tool, own shape.Fields) {
	if (t.Kind == utp.HostedTool || t.Kind == utp.NamespaceTool) && len(own) > 0 {
		w.out.Tools = append(w.out.Tools, shape.Value{Raw: own.Raw()})
		return
	}
	if out := w.names.Out(t.Name); out != t.Name {
		w.Lose(path+".name", "sent as "+out, "only letters, digits, _ and - are allowed, 64 at most")
	}
	if v, ok := w.define(path, t, own); ok {
		w.out.Tools = append(w.out.Tools, v)
	}
}

// define writes a function or a custom tool.
func (w *writing) define(path string, t utp.Tool, own shape.Fields) (shape.Value, bool) {
	out := toolJSON{Type: "function", Name: w.names.Out(t.Name), Description: t.Description}
	switch t.Kind {
	case utp.CustomTool:
		out.Type = "custom"
	case utp.FunctionTool:
		w.function(path, t, &out, own.Get(strictDefault) != nil)
	default:
		w.Lose(path, "dropped", "a "+string(t.Kind)+" tool of another provider cannot be offered here")
		return shape.Value{}, false
	}
	return shape.JSON(out, own.Without(strictDefault)), true
}

// function writes the schema. Where nothing was said, strict is off, unless the
// API's own client left it out.
func (w *writing) function(path string, t utp.Tool, out *toolJSON, left bool) {
	off := false
	if out.Strict = t.Strict; t.Strict == nil && !left {
		out.Strict = &off
	}
	if t.Strict != nil && *t.Strict {
		schema, back, losses, ok := dialect.Strict.Convert(t.Schema, path+".parameters")
		if ok {
			w.back[t.Name] = back
			w.Losses = append(w.Losses, losses...)
			if out.Parameters = t.Schema; len(losses) > 0 || back != nil || len(t.Schema) == 0 {
				out.Parameters = schema
			}
			return
		}
		out.Strict = &off
		w.Lose(path+".strict", "dropped", "a strict schema cannot have open objects or values of any type")
	}
	schema, _, losses, _ := dialect.RootObject.Convert(t.Schema, path+".parameters")
	out.Parameters = schema
	w.Losses = append(w.Losses, losses...)
}

// choice writes tool_choice; auto is the API's default.
func (w *writing) choice(c utp.Choice) {
	mode := "auto"
	if c.Mode == utp.Required {
		mode = "required"
	}
	said := w.own.Get("tool_choice")
	switch {
	case said != nil && c.Mode == utp.Auto && len(c.Allowed) == 0:
		w.out.ToolChoice = shape.Value{Raw: said}
	case c.Mode == utp.None:
		w.out.ToolChoice = shape.Quote("none")
	case c.Mode == utp.Named:
		w.out.ToolChoice = shape.JSON(choiceJSON{Type: w.kind(c.Name), Name: w.names.Out(c.Name)}, nil)
	case len(c.Allowed) > 0:
		list := choiceJSON{Type: "allowed_tools", Mode: mode}
		for _, name := range c.Allowed {
			list.Tools = append(list.Tools, choiceTool{w.kind(name), w.names.Out(name)})
		}
		w.out.ToolChoice = shape.JSON(list, nil)
	case mode == "required":
		w.out.ToolChoice = shape.Quote(mode)
	}
}

func (w *writing) kind(name string) string {
	for _, t := range w.in.Tools {
		if t.Name == name && t.Kind == utp.CustomTool {
			return "custom"
		}
	}
	return "function"
}
