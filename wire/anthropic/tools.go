package anthropic

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// tools writes the tools and the choice. There is no list of allowed tools: the
// others are left out.
func (w *writing) tools() {
	c := w.in.Choice
	offered := w.in.Tools
	if c.Mode != utp.Named && len(c.Allowed) > 0 {
		offered, _ = codec.Offered(offered, c)
		w.Lose("choice.allowed", "sent only these tools", "Anthropic has no list of allowed tools")
	}
	for i, t := range offered {
		w.tool(fmt.Sprintf("tools[%d]", i), t)
	}
	if len(w.out.Tools) > 0 {
		w.choice(c)
	}
}

func (w *writing) tool(path string, t utp.Tool) {
	rest, _ := codec.UnpackExtra(t.Extra, provider)
	switch {
	case t.Kind == utp.HostedTool && len(rest) > 0:
		w.out.Tools = append(w.out.Tools, shape.Value{Raw: rest.Raw()})
		return
	case t.Kind != utp.FunctionTool && t.Kind != utp.CustomTool:
		w.Lose(path, "dropped", "a "+string(t.Kind)+" tool of another provider cannot be offered here")
		return
	}
	rest = w.Own(path, t.Extra)
	out := toolJSON{Name: w.names.Out(t.Name), Description: t.Description, Strict: t.Strict}
	switch t.Kind {
	case utp.FunctionTool:
		schema, _, losses, _ := dialect.RootObject.Convert(t.Schema, path+".parameters")
		out.Schema = schema
		w.Losses = append(w.Losses, losses...)
		if t.Strict != nil && *t.Strict && !dialect.Closed(schema) {
			out.Strict = nil
			w.Lose(path+".strict", "dropped", "it wants additionalProperties false on every object")
		}
	case utp.CustomTool:
		out.Description, out.Schema = codec.CustomFunction(t)
		w.Lose(path, "sent as a function with one text", "free text tools are not known here")
		w.Explained(path + ".format")
	}
	if out.Name != t.Name {
		w.Lose(path+".name", "sent as "+out.Name, "only letters, digits, _ and - are allowed, 64 at most")
	}
	w.out.Tools = append(w.out.Tools, shape.JSON(out, rest))
}

// choice writes tool_choice; auto is the API's default.
func (w *writing) choice(c utp.Choice) {
	var out choiceJSON
	switch c.Mode {
	case utp.None:
		out.Type = "none"
	case utp.Named:
		out.Type, out.Name = "tool", w.names.Out(c.Name)
	case utp.Required:
		out.Type = "any"
	default:
		out.Type = "auto"
	}
	if w.think && (c.Mode == utp.Named || c.Mode == utp.Required) {
		w.ask = "Answer with a call of one of the tools."
		if c.Mode == utp.Named {
			w.ask = "Answer with a call of the tool " + out.Name + "."
		}
		w.Lose("choice", "asked for in the system prompt", "the API refuses to force a call while the model thinks")
		out = choiceJSON{Type: "auto"}
	}
	if c.Parallel != nil && out.Type != "none" {
		one := !*c.Parallel
		out.One = &one
	}
	if out.Type != "auto" || out.One != nil && *out.One {
		w.out.ToolChoice = shape.JSON(out, nil)
	}
}
