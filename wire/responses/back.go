package responses

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

const (
	path      = "/v1/responses"
	countPath = "/v1/responses/input_tokens"
	encrypted = "reasoning.encrypted_content"
)

// Back calls a server.
type Back struct{}

var _ wire.Back = Back{}

// maxName and maxID are the longest legal names of tools and call_ids.
// Source: API reference; refusals of longer ones.
const (
	maxName = 64
	maxID   = 64
)

// writing is a request on its way out.
type writing struct {
	in      *utp.Request
	own     shape.Fields // of the request's Extra
	names   *codec.Names
	members map[string]member
	back    map[string]*dialect.Coercion // by the tools' own names
	custom  map[string]bool              // ids of the custom calls written
	out     requestJSON
	items   []shape.Value
	codec.Outgoing

	group    toolJSON // the namespace that was written last
	groupEnd int      // behind its place in out.Tools
}

// Open writes the request.
func (Back) Open(r *utp.Request) (*wire.Exchange, error) {
	w, err := write(r)
	if err != nil {
		return nil, err
	}
	return w.Exchange(path, readRequest.Copy(&w.out, w.out.Rest), answer{names: w.names, members: w.members, back: w.back, model: r.Model}.reader), nil
}

// Count writes the question how many tokens the request has; ReadCount reads
// the answer.
func (Back) Count(r *utp.Request) (*wire.Exchange, error) {
	w, err := write(r)
	if err != nil {
		return nil, err
	}
	o := &w.out
	o.MaxTokens, o.Stream, o.Temperature, o.TopP, o.Store, o.Include, o.User, o.Safety = nil, false, nil, nil, nil, nil, "", ""
	return w.Exchange(countPath, readRequest.Copy(o, o.Rest), nil), nil
}

// ReadCount reads the answer to Count, in tokens.
func ReadCount(body []byte) (int, error) { return codec.ReadCount(provider, body, "input_tokens") }

func write(r *utp.Request) (*writing, error) {
	names, err := codec.NewNames(r.Tools, maxName)
	if err != nil {
		return nil, err
	}
	w := &writing{in: r, names: names, members: members(r.Tools), back: map[string]*dialect.Coercion{}, custom: map[string]bool{},
		Outgoing: codec.Outgoing{Provider: provider, Kin: "openai"}}
	w.out = requestJSON{Model: r.Model, Stream: r.Stream}
	w.extra()
	w.messages()
	w.tools()
	w.params()
	return w, nil
}

// extra takes over what a client of this API said that the model has no place
// for. Without it nothing is stored, and reasoning is asked for in the form that
// can be sent back.
func (w *writing) extra() {
	w.own = w.Own("", w.in.Extra)
	w.out.Rest = w.own.Without("reasoning", "text", "user", "safety_identifier", "tool_choice", "store", "include")
	w.out.Store = new(bool)
	_ = json.Unmarshal(w.own.Get("store"), &w.out.Store)
	_ = json.Unmarshal(w.own.Get("include"), &w.out.Include)
	if !*w.out.Store && !slices.Contains(w.out.Include, encrypted) {
		w.out.Include = append(w.out.Include, encrypted)
	}
}

func (w *writing) params() {
	p := w.in.Params
	w.out.MaxTokens = p.MaxTokens
	w.out.Temperature, w.out.TopP = w.Sampling(w.in)
	w.Refuse("the Responses API has no such setting", codec.Param{Name: "top_k", Given: p.TopK != nil}, codec.Param{Name: "seed", Given: p.Seed != nil},
		codec.Param{Name: "stop", Given: len(p.Stop) > 0}, codec.Param{Name: "context", Given: p.Context != nil},
		codec.Param{Name: "presence_penalty", Given: p.Presence != nil}, codec.Param{Name: "frequency_penalty", Given: p.Frequency != nil})
	w.user()
	w.reasoning()
	w.format()
}

func (w *writing) user() {
	user, o := w.in.Params.User, &w.out
	o.User, o.Safety = w.own.Text("user"), w.own.Text("safety_identifier")
	if o.Safety != user && o.User != user {
		o.User, o.Safety = "", user
	}
	o.User, o.Safety = w.User(o.User, codec.MaxUser), w.User(o.Safety, codec.MaxUser)
}

// reasoning is as the client wrote it while it means the same.
func (w *writing) reasoning() {
	effort := w.in.Params.Effort
	said := shape.Value{Raw: w.own.Get("reasoning")}
	if r, err := readReasoning.Read(said); err == nil && r.Effort == effort {
		w.out.Reasoning = said
		return
	}
	if effort != "" {
		r := reasoningJSON{Effort: effort}
		if effort != "none" {
			r.Summary = "auto"
		}
		w.out.Reasoning = shape.JSON(r, nil)
	}
}

func (w *writing) format() {
	p := w.in.Params
	said := shape.Value{Raw: w.own.Get("text")}
	t, err := readFormat.Read(said)
	var same utp.Params
	if t.Format.wants(&same); err == nil && codec.SameOutput(same, p) {
		w.out.Text = said
		return
	}
	switch {
	case len(p.Schema) == 0:
		t.Format = nil
	case string(p.Schema) == "{}":
		t.Format = &formatJSON{Type: "json_object"}
	default:
		t.Format = &formatJSON{Type: "json_schema", Name: cmp.Or(p.SchemaName, codec.OutputName), Description: p.SchemaAbout, Schema: p.Schema, Strict: w.Held(p)}
		if t.Format.Strict == nil {
			t.Format.Strict = new(bool)
		}
	}
	if t.Format != nil || len(t.Rest) > 0 {
		w.out.Text = shape.JSON(t, nil)
	}
}

func (w *writing) tools() {
	for i, t := range w.in.Tools {
		path := codec.At("tools", i)
		own, _ := codec.UnpackExtra(t.Extra, provider)
		if t.Kind == utp.FunctionTool || t.Kind == utp.CustomTool {
			own = w.Own(path, t.Extra)
		}
		if m, inside := w.members[t.Name]; inside {
			w.member(path, t, m, own)
		} else {
			w.tool(path, t, own)
		}
	}
	if len(w.out.Tools) > 0 {
		w.out.Parallel = w.in.Choice.Parallel
		w.choice(w.Choose(w.in))
	}
}

// member adds a tool to its namespace, which is another than that of a tool that
// stood elsewhere.
func (w *writing) member(path string, t utp.Tool, m member, own shape.Fields) {
	if len(w.group.Tools) == 0 || w.group.Name != m.namespace || w.groupEnd != len(w.out.Tools) {
		w.group = toolJSON{Type: "namespace", Name: m.namespace, Description: own.Text(namespaceText)}
		w.out.Tools = append(w.out.Tools, shape.Value{})
		w.groupEnd = len(w.out.Tools)
	}
	full := t.Name
	t.Name = m.name
	if v, ok := w.define(path, full, t, own.Without(inNamespace, namespaceText, nameInNamespace)); ok {
		w.group.Tools = append(w.group.Tools, v)
		w.out.Tools[w.groupEnd-1] = shape.JSON(w.group, nil)
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
	if v, ok := w.define(path, t.Name, t, own); ok {
		w.out.Tools = append(w.out.Tools, v)
	}
}

// define writes a function or a custom tool. Where nothing was said, strict is
// off, unless the API's own client left it out. full is the name outside of a
// namespace.
func (w *writing) define(path, full string, t utp.Tool, own shape.Fields) (shape.Value, bool) {
	out := toolJSON{Type: "function", Name: w.names.Out(t.Name), Description: t.Description}
	switch t.Kind {
	case utp.CustomTool:
		out.Type = "custom"
	case utp.FunctionTool:
		w.back[full] = w.Schema(path, &t)
		if out.Parameters, out.Strict = t.Schema, t.Strict; t.Strict == nil && own.Get(strictDefault) == nil {
			out.Strict = new(bool)
		}
	default:
		w.Leave(path, t)
		return shape.Value{}, false
	}
	return shape.JSON(out, own.Without(strictDefault)), true
}

// choice writes tool_choice; auto is the API's default.
func (w *writing) choice(c utp.Choice) {
	mode := "auto"
	if c.Mode == utp.ChoiceRequired {
		mode = "required"
	}
	said := w.own.Get("tool_choice")
	switch {
	case said != nil && c.Mode == utp.ChoiceAuto && len(c.Allowed) == 0:
		w.out.ToolChoice = shape.Value{Raw: said}
	case c.Mode == utp.ChoiceNone:
		w.out.ToolChoice = shape.Quote("none")
	case c.Mode == utp.ChoiceNamed:
		t := w.named(c.Name)
		w.out.ToolChoice = shape.JSON(choiceJSON{Type: t.Type, Name: t.Name}, nil)
	case len(c.Allowed) > 0:
		list := choiceJSON{Type: "allowed_tools", Mode: mode}
		for _, name := range c.Allowed {
			list.Tools = append(list.Tools, w.named(name))
		}
		w.out.ToolChoice = shape.JSON(list, nil)
	case mode == "required":
		w.out.ToolChoice = shape.Quote(mode)
	}
}

// named is a tool as a choice names it: one in a namespace by its name there, one
// of the provider's own by its type.
func (w *writing) named(name string) choiceTool {
	for _, t := range w.in.Tools {
		if own, _ := codec.UnpackExtra(t.Extra, provider); t.Name == name && t.Kind == utp.HostedTool {
			return choiceTool{Type: own.Text("type"), Server: own.Text("server_label")}
		}
	}
	out := choiceTool{Type: "function", Name: name}
	if w.names.Custom(name) {
		out.Type = "custom"
	}
	if m, inside := w.members[name]; inside {
		out.Name = m.name
	}
	out.Name = w.names.Out(out.Name)
	return out
}
