package openai

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Front poses as OpenAI.
type Front struct{}

var _ wire.Front = Front{}

// reading is a client's request on its way in.
type reading struct {
	in     requestJSON
	out    utp.Request
	names  map[string]string // of the calls, by id
	losses []wire.Loss
}

// Read reads the body of a POST to /v1/chat/completions. What is wrong with it is
// a *wire.InputError.
func (Front) Read(h wire.HTTPRequest) (*utp.Request, []wire.Loss, error) {
	r := reading{names: map[string]string{}}
	if err := r.read(h); err != nil {
		return nil, nil, (*wire.InputError)(err)
	}
	return &r.out, r.losses, nil
}

func (r *reading) read(h wire.HTTPRequest) (err *shape.Error) {
	body, err := shape.Body(h.Body)
	if err != nil {
		return err
	}
	if r.in, err = ofRequest.Read(body); err != nil {
		return err
	}
	if r.in.Messages == nil {
		return &shape.Error{Path: "messages", Offset: -1, Want: "an array of messages"}
	}
	r.out = utp.Request{Model: r.in.Model, Stream: r.in.Stream}
	for i, v := range r.in.Messages {
		if err := r.message(v); err != nil {
			return shape.Inside(err, "messages", i)
		}
	}
	if err := shape.Steps(r.tools, r.choice, r.params); err != nil {
		return err
	}
	r.extra()
	return nil
}

// extra keeps what the model has no place for, and the exact forms of what it has.
func (r *reading) extra() {
	format, _ := ofFormat.Read(r.in.ResponseFormat)
	rest := codec.Forms(r.in.Rest,
		codec.Form{Name: "response_format", Value: r.in.ResponseFormat, All: format.known()},
		codec.Form{Name: "reasoning", Value: r.in.Reasoning, All: codec.Only(r.in.Reasoning, "effort")},
		codec.Form{Name: "stream_options", Value: r.in.StreamOptions, All: true})
	if r.in.Functions != nil {
		rest = codec.Marked(rest, codec.Mark(legacy))
	}
	if n := r.in.Choices; n != nil && *n > 1 {
		r.losses = append(r.losses, wire.Loss{Path: "n", What: "one reply is given", Why: "more at once are not passed on"})
	}
	r.out.Extra = codec.PackExtra(provider, rest)
}

func (r *reading) params() (err *shape.Error) {
	in, p := r.in, &r.out.Params
	p.Temperature, p.TopP, p.TopK, p.Seed, p.Effort, p.User = in.Temperature, in.TopP, in.TopK, in.Seed, in.Effort, in.User
	p.Presence, p.Frequency = in.Presence, in.Frequency
	if p.MaxTokens = in.MaxCompletion; p.MaxTokens == nil {
		p.MaxTokens = in.MaxTokens
	}
	if p.Seed == nil {
		p.Seed = in.RandomSeed
	}
	if p.User == "" {
		p.User = in.Rest.Text("safety_identifier")
	}
	if p.Stop, err = texts(in.Stop); err != nil {
		return shape.Inside(err, "stop", -1)
	}
	if !in.Reasoning.IsZero() {
		j, err := ofReasoning.Read(in.Reasoning)
		if err != nil {
			return shape.Inside(err, "reasoning", -1)
		}
		if p.Effort == "" {
			p.Effort = j.Effort
		}
	}
	if !in.StreamOptions.IsZero() {
		if _, err := ofOptions.Read(in.StreamOptions); err != nil {
			return shape.Inside(err, "stream_options", -1)
		}
	}
	if !in.ResponseFormat.IsZero() {
		f, err := ofFormat.Read(in.ResponseFormat)
		if err != nil {
			return shape.Inside(err, "response_format", -1)
		}
		f.wants(p)
	}
	return nil
}

// texts reads a text or a list of texts.
func texts(v shape.Value) (out []string, err *shape.Error) {
	switch v.Kind() {
	case 0:
		return nil, nil
	case '"':
		s, err := v.Text()
		return []string{s}, err
	}
	list, err := v.Elements()
	for i, v := range list {
		s, err := v.Text()
		if err != nil {
			return nil, shape.Inside(err, "", i)
		}
		out = append(out, s)
	}
	return out, err
}

func (r *reading) tools() *shape.Error {
	var names codec.ToolNames
	r.out.Tools = slices.Grow(r.out.Tools, len(r.in.Tools)+len(r.in.Functions))
	for i, v := range r.in.Tools {
		t, err := names.ReadFunction(v, provider)
		if err != nil {
			return shape.Inside(err, "tools", i)
		}
		if t.Kind == utp.CustomTool {
			own, _ := codec.UnpackExtra(t.Extra, provider)
			if format := own.Get("format"); format != nil {
				t.Extra = codec.PackExtra(provider, own.Set("format", flattened(format)))
			}
		}
		r.out.Tools = append(r.out.Tools, t)
	}
	for i, v := range r.in.Functions {
		t, err := names.ReadFunction(v, provider)
		if err != nil {
			return shape.Inside(err, "functions", i)
		}
		one := false
		r.out.Tools, r.out.Choice.Parallel = append(r.out.Tools, t), &one
	}
	return nil
}

// flattened is a custom tool's format with the members of its grammar beside its
// type; nested is the inverse.
func flattened(format []byte) []byte {
	j, err := ofGrammar.Read(shape.Value{Raw: format})
	if err != nil || j.Grammar.IsZero() {
		return format
	}
	inner, _ := shape.Members(j.Grammar)
	return shape.JSON(grammarJSON{Type: j.Type}, append(inner, j.Rest...)).Raw
}

func (r *reading) choice() (err *shape.Error) {
	c, v, field := &r.out.Choice, r.in.ToolChoice, "tool_choice"
	if r.in.Parallel != nil {
		c.Parallel = r.in.Parallel
	}
	if v.IsZero() {
		v, field = r.in.FunctionCall, "function_call"
	}
	if v.IsZero() {
		return nil
	}
	j := choiceJSON{}
	if v.Kind() == '"' {
		j.Type, err = v.Text()
	} else {
		j, err = ofChoice.Read(v)
	}
	if err == nil {
		err = chosen(c, j, v)
	}
	if err == nil {
		err = codec.Offered(*c, r.out.Tools)
	}
	return shape.Inside(err, field, -1)
}

// chosen reads a tool_choice into c.
func chosen(c *utp.Choice, j choiceJSON, v shape.Value) *shape.Error {
	mode, word := codec.Modes[j.Type]
	switch name := j.name(); {
	case word:
		c.Mode = mode
	case j.Type == "allowed_tools" && j.Allowed != nil:
		c.Mode = codec.Modes[j.Allowed.Mode]
		for i, v := range j.Allowed.Tools {
			t, err := ofChoice.Read(v)
			if err != nil {
				return shape.Inside(err, "allowed_tools.tools", i)
			}
			c.Allowed = append(c.Allowed, t.name())
		}
	case name != "":
		c.Mode, c.Name = utp.ChoiceNamed, name
	default:
		return &shape.Error{Offset: v.Offset, Want: "auto, required, none, or the function to call"}
	}
	return nil
}

// roles maps a message's role. The roles that are left out are kept in Extra.
var roles = map[string]utp.Role{
	"system": utp.RoleSystem, "developer": utp.RoleSystem, "user": utp.RoleUser, "assistant": utp.RoleAssistant, "tool": utp.RoleTool, "function": utp.RoleTool,
}

func (r *reading) message(v shape.Value) *shape.Error {
	m, err := ofMessage.Read(v)
	if err != nil {
		return err
	}
	role, known := roles[m.Role]
	if !known {
		return &shape.Error{Path: "role", Offset: v.Offset, Want: "system, developer, user, assistant or tool, not " + m.Role}
	}
	parts, err := r.parts(m.Content)
	if err != nil {
		return shape.Inside(err, "content", -1)
	}
	rest := m.Rest
	switch role {
	case utp.RoleTool:
		parts, rest = []utp.Part{r.result(m, parts)}, nil
	case utp.RoleAssistant:
		if parts, err = r.assistant(&m, parts); err != nil {
			return err
		}
		if rest = m.Rest; len(m.Details) > 0 {
			rest = append(rest, shape.Field{Name: "reasoning_details", Value: shape.List(m.Details).Raw})
		}
	case utp.RoleSystem:
		if m.Role != "system" {
			rest = append(rest, shape.Field{Name: asRole, Value: shape.Quote(m.Role).Raw})
		}
	}
	r.out.Messages = append(r.out.Messages, utp.Message{Role: role, Parts: parts, Extra: codec.PackExtra(provider, rest)})
	return nil
}

func (r *reading) result(m messageJSON, parts []utp.Part) utp.Result {
	id := codec.OriginID(m.CallID)
	out := utp.Result{CallID: id, Name: r.names[id], Status: utp.StatusOK, Parts: parts}
	if out.Name == "" {
		out.Name = m.Rest.Text("name")
	}
	out.Extra = codec.PackExtra(provider, m.Rest.Without("name"))
	return history.Unmarked(out)
}

// assistant adds to the parts of a message what stands beside its content, and
// leaves in the message what only this API understands.
func (r *reading) assistant(m *messageJSON, parts []utp.Part) ([]utp.Part, *shape.Error) {
	thinks := r.thinks(m)
	if m.Refusal != "" {
		parts = append(parts, refused(m.Refusal))
	}
	parts = append(thinks, parts...)
	calls := m.ToolCalls
	if m.FunctionCall.Kind() == '{' {
		calls = append(calls, shape.Value{Raw: ofCall.Write(callJSON{}, shape.Fields{{Name: "function", Value: m.FunctionCall.Raw}}), Offset: m.FunctionCall.Offset})
	}
	for i, v := range calls {
		c, err := call(v)
		if err != nil {
			return nil, shape.Inside(err, "tool_calls", i)
		}
		r.names[c.ID] = c.Name
		parts = append(parts, c)
	}
	return parts, nil
}

// thinks reads the reasoning, which a client sends back as it got it.
func (r *reading) thinks(m *messageJSON) (parts []utp.Part) {
	words, extra := m.ReasoningContent.String(), origins["reasoning_content"]
	if words == "" {
		words, extra = m.Reasoning.String(), origins["reasoning"]
	}
	thinks, others := reasoned(utp.Think{Text: words, Extra: extra}, m.Details)
	m.Details = others
	for _, t := range thinks {
		parts = append(parts, t)
	}
	return parts
}

func refused(words string) utp.Text {
	return utp.Text{Text: words, Extra: codec.PackExtra(provider, shape.Fields{{Name: refusal, Value: []byte("true")}})}
}

func call(v shape.Value) (c utp.Call, err *shape.Error) {
	j, err := ofCall.Read(v)
	if err != nil {
		return c, err
	}
	c = utp.Call{ID: codec.OriginID(j.ID), Source: utp.SourceNative, Extra: callExtra(j.Rest)}
	switch {
	case j.Custom != nil:
		c.Name, c.Kind, c.RawArgs, c.Args = j.Custom.Name, utp.CustomCall, j.Custom.Input, codec.CustomArgs(j.Custom.Input)
	case j.Function != nil:
		c.Name = j.Function.Name
		c.Args, c.RawArgs = codec.ReadArguments(j.Function.Arguments)
	}
	if c.Name == "" {
		return c, &shape.Error{Path: "function.name", Offset: v.Offset, Want: "the name of a tool"}
	}
	return c, nil
}

func (r *reading) parts(v shape.Value) ([]utp.Part, *shape.Error) {
	if v.IsZero() {
		return nil, nil
	}
	return codec.ReadParts(v, "parts", part)
}

func part(v shape.Value) (utp.Part, *shape.Error) {
	p, err := ofPart.Read(v)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Type == "text", p.Type == "input_text", p.Type == "output_text":
		return utp.Text{Text: p.Text, Extra: codec.PackExtra(provider, p.Rest)}, nil
	case p.Type == "refusal":
		return refused(p.Refusal), nil
	case p.Type == "image_url":
		return image(p)
	case p.Type == "input_audio" && p.Audio != nil:
		return file("data:audio/"+p.Audio.Format+";base64,"+p.Audio.Data, p.Rest, v)
	case p.Type == "file" && p.File != nil && strings.HasPrefix(p.File.Data, "data:"):
		b, err := file(p.File.Data, codec.Marked(p.Rest, codec.Mark(asFile)), v)
		b.Name = p.File.Name
		return b, err
	case p.Type == "":
		return nil, &shape.Error{Path: "type", Offset: v.Offset, Want: "the type of a part"}
	}
	return utp.Unknown{Provider: provider, Raw: v.Raw}, nil
}

func image(p partJSON) (utp.Part, *shape.Error) {
	j := imageJSON{}
	var err *shape.Error
	if p.Image.Kind() == '"' {
		j.URL, err = p.Image.Text()
	} else {
		j, err = ofImage.Read(p.Image)
	}
	if err != nil {
		return nil, shape.Inside(err, "image_url", -1)
	}
	rest := p.Rest
	if len(j.Rest) > 0 {
		rest = append(rest, shape.Field{Name: "image_url", Value: j.Rest.Raw()})
	}
	b, err := file(j.URL, rest, p.Image)
	b.Detail = j.Detail
	return b, err
}

// file reads a file by its URL.
func file(url string, rest shape.Fields, v shape.Value) (utp.Blob, *shape.Error) {
	b, err := codec.ReadFile(url, v)
	b.Extra = codec.PackExtra(provider, rest)
	return b, err
}
