package responses

import (
	"cmp"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Front poses as OpenAI's Responses API.
type Front struct {
	// Stored says that who answers keeps replies: previous_response_id,
	// conversation and background are then taken and handed on in Extra. Without
	// it they are refused, because the conversation would be lost.
	Stored bool
}

var _ wire.Front = Front{}

// reading is a client's request on its way in.
type reading struct {
	front Front
	in    requestJSON
	out   utp.Request
	names map[string]string // the calls' tools by id, for the results that follow

	toolNames codec.ToolNames
}

// Read reads the body of a POST to /v1/responses or /v1/responses/input_tokens.
// What is wrong with it is a *wire.InputError.
func (f Front) Read(r wire.HTTPRequest) (*utp.Request, []wire.Loss, error) {
	in := reading{front: f, names: map[string]string{}}
	if err := in.read(r); err != nil {
		return nil, nil, (*wire.InputError)(err)
	}
	return &in.out, nil, nil
}

func (r *reading) read(h wire.HTTPRequest) (err *shape.Error) {
	body, err := shape.Body(h.Body)
	if err != nil {
		return err
	}
	if r.in, err = readRequest.Read(body); err != nil {
		return err
	}
	r.out = utp.Request{Model: r.in.Model, Stream: r.in.Stream}
	return shape.Steps(r.stored, r.tools, r.input, r.choice, r.params, r.extra)
}

// stored refuses what only a server with a store can do.
func (r *reading) stored() *shape.Error {
	if r.front.Stored {
		return nil
	}
	want := "the whole conversation in input: replies are not stored here"
	switch {
	case r.in.Previous != "":
		return &shape.Error{Path: "previous_response_id", Offset: -1, Want: want}
	case !r.in.Conversation.IsZero():
		return &shape.Error{Path: "conversation", Offset: r.in.Conversation.Offset, Want: want}
	case r.in.Background:
		return &shape.Error{Path: "background", Offset: -1, Want: "false: replies are not stored here"}
	}
	return nil
}

// extra keeps what the model has no place for, and the exact forms of what it has.
func (r *reading) extra() *shape.Error {
	in, c := r.in, r.out.Choice
	asked := c.Mode == utp.ChoiceAuto && in.ToolChoice.Kind() == '{' && len(c.Allowed) == 0
	rest := in.Rest.With("conversation", in.Conversation).WithText("previous_response_id", in.Previous).
		With("background", shape.Given(in.Background, true)).With("tool_choice", shape.Given(asked, in.ToolChoice))
	text, _ := readFormat.Read(in.Text)
	rest = codec.Forms(rest,
		codec.Form{Name: "reasoning", Value: in.Reasoning, All: codec.Only(in.Reasoning, "effort", "summary")},
		codec.Form{Name: "text", Value: in.Text, All: len(text.Rest) == 0 && (text.Format == nil || len(text.Format.Rest) == 0)})
	marks := shape.Fields(nil).WithText("user", in.User).WithText("safety_identifier", in.Safety).
		With("store", shape.Given(in.Store != nil, in.Store)).With("include", shape.Given(len(in.Include) > 0, in.Include))
	r.out.Extra = codec.PackExtra(provider, codec.Marked(rest, marks...))
	return nil
}

func (r *reading) params() *shape.Error {
	in, p := r.in, &r.out.Params
	p.MaxTokens, p.Temperature, p.TopP = in.MaxTokens, in.Temperature, in.TopP
	p.User = cmp.Or(in.Safety, in.User)
	reasoning, err := readReasoning.Field("reasoning", in.Reasoning)
	if err != nil {
		return err
	}
	text, err := readFormat.Field("text", in.Text)
	p.Effort = reasoning.Effort
	text.Format.wants(p)
	return err
}

func (r *reading) choice() *shape.Error {
	c := &r.out.Choice
	c.Parallel = r.in.Parallel
	v := r.in.ToolChoice
	if v.Kind() == '"' {
		word, err := v.Text()
		mode, known := codec.Modes[word]
		if err == nil && !known {
			err = &shape.Error{Offset: v.Offset, Want: "auto, required, none or an object"}
		}
		c.Mode = mode
		return shape.Inside(err, "tool_choice", -1)
	}
	j, err := readChoice.Field("tool_choice", v)
	switch j.Type {
	case "function", "custom":
		c.Mode, c.Name = utp.ChoiceNamed, r.named(choiceTool{Type: j.Type, Name: j.Name})[0]
	case "allowed_tools":
		c.Mode = codec.Modes[j.Mode]
		for _, t := range j.Tools {
			c.Allowed = append(c.Allowed, r.named(t)...)
		}
	}
	if err == nil {
		err = shape.Inside(codec.Offered(*c, r.out.Tools), "tool_choice", -1)
	}
	return err
}

// named are the tools that an entry of a choice names: by their name, which may be
// the one in a namespace, or of the provider's own by their type.
func (r *reading) named(e choiceTool) (names []string) {
	byName := e.Type == "function" || e.Type == "custom"
	for _, t := range r.out.Tools {
		own, _ := codec.UnpackExtra(t.Extra, provider)
		hosted := t.Kind == utp.HostedTool && own.Text("type") == e.Type && own.Text("server_label") == e.Server
		if hosted || byName && e.Name != "" && (t.Name == e.Name || own.Text(nameInNamespace) == e.Name) {
			names = append(names, t.Name)
		}
	}
	if names == nil {
		names = []string{cmp.Or(e.Name, e.Type)}
	}
	return names
}

// tools reads the tools. The provider's own have no names: theirs are the types.
func (r *reading) tools() *shape.Error {
	err := shape.Each(r.in.Tools, r.tool)
	for i := range r.out.Tools {
		if t := &r.out.Tools[i]; t.Kind == utp.HostedTool {
			t.Name = r.toolNames.Free(t.Name)
		}
	}
	return shape.Inside(err, "tools", -1)
}

// tool is a function, a custom tool, a namespace of such, or for any other type
// one of the provider's own.
func (r *reading) tool(v shape.Value) *shape.Error {
	t, err := readTool.Read(v)
	switch {
	case err != nil:
		return err
	case t.Type == "namespace":
		return r.namespace(t, v)
	case t.Type == "function", t.Type == "custom", t.Type == "":
		return r.offer(tool(t), v)
	}
	all, err := shape.Members(v)
	r.out.Tools = append(r.out.Tools, utp.Tool{Name: t.Type, Kind: utp.HostedTool, Extra: codec.PackExtra(provider, all)})
	return err
}

func (r *reading) offer(t utp.Tool, v shape.Value) *shape.Error {
	r.out.Tools = append(r.out.Tools, t)
	return r.toolNames.Add(t.Name, v)
}

func tool(t toolJSON) utp.Tool {
	out := utp.Tool{Name: t.Name, Description: t.Description, Schema: t.Parameters, Strict: t.Strict}
	rest := t.Rest
	if t.Type == "custom" {
		out.Kind = utp.CustomTool
	} else if t.Strict == nil {
		rest = codec.Marked(rest, shape.Field{Name: strictDefault, Value: []byte("null")})
	}
	out.Extra = codec.PackExtra(provider, rest)
	return out
}

// namespace adds the tools of a namespace as NAMESPACE__NAME.
func (r *reading) namespace(ns toolJSON, at shape.Value) *shape.Error {
	if ns.Name == "" {
		return &shape.Error{Path: "name", Offset: at.Offset, Want: "the name of the namespace"}
	}
	err := shape.Each(ns.Tools, func(v shape.Value) *shape.Error {
		t, err := readTool.Read(v)
		switch {
		case err != nil:
			return err
		case t.Name == "":
			return r.toolNames.Add("", v)
		}
		t.Rest = t.Rest.With(namespaceText, shape.Quote(ns.Description))
		t.Rest = codec.Marked(t.Rest, shape.Fields(nil).With(inNamespace, shape.Quote(ns.Name)).With(nameInNamespace, shape.Quote(t.Name))...)
		out := tool(t)
		out.Name = ns.Name + "__" + t.Name
		return r.offer(out, v)
	})
	return shape.Inside(err, "tools", -1)
}

func (r *reading) input() *shape.Error {
	if r.in.Instructions != "" {
		r.out.Messages = append(r.out.Messages, utp.NewText(utp.RoleSystem, r.in.Instructions))
	}
	v := r.in.Input
	switch v.Kind() {
	case 0:
		if r.front.Stored {
			return nil
		}
		return &shape.Error{Path: "input", Offset: -1, Want: "a text or an array of items"}
	case '"':
		words, err := v.Text()
		r.out.Messages = append(r.out.Messages, utp.NewText(utp.RoleUser, words))
		return shape.Inside(err, "input", -1)
	}
	return shape.Inside(v.Each(r.item), "input", -1)
}

// item adds an item. Those of the assistant that follow each other are one message.
func (r *reading) item(v shape.Value) *shape.Error {
	head, err := readHead.Read(v)
	if err != nil {
		return err
	}
	switch kind := string(head.Type); {
	case kind == "message", kind == "" && head.Role != "":
		return r.message(v)
	case kind == "":
		return &shape.Error{Path: "type", Offset: v.Offset, Want: "the type of an item"}
	case kind == "reasoning":
		return r.thought(v)
	case kind == "function_call", kind == "custom_tool_call":
		return r.call(v)
	case kind == "function_call_output", kind == "custom_tool_call_output":
		return r.result(v)
	case kind == "item_reference" && !r.front.Stored:
		return &shape.Error{Path: "type", Offset: v.Offset, Want: "whole items: replies are not stored here"}
	case strings.HasSuffix(kind, "_output"), strings.HasSuffix(kind, "_response"):
		r.out.Messages = append(r.out.Messages, utp.Message{Role: utp.RoleUser, Parts: []utp.Part{utp.Unknown{Provider: provider, Raw: v.Raw}}})
	default:
		r.assistant(utp.Unknown{Provider: provider, Raw: v.Raw})
	}
	return nil
}

// assistant adds parts to the assistant's message that is under way.
func (r *reading) assistant(parts ...utp.Part) {
	n := len(r.out.Messages) - 1
	if n < 0 || r.out.Messages[n].Role != utp.RoleAssistant {
		r.out.Messages = append(r.out.Messages, utp.Message{Role: utp.RoleAssistant})
		n++
	}
	m := &r.out.Messages[n]
	m.Parts = append(m.Parts, parts...)
}

func (r *reading) message(v shape.Value) *shape.Error {
	m, err := readMessage.Read(v)
	if err != nil {
		return err
	}
	parts, err := codec.ReadParts(m.Content, "parts", part)
	if err != nil {
		return shape.Inside(err, "content", -1)
	}
	rest, role := m.Rest, utp.Role(m.Role)
	switch m.Role {
	case "assistant":
		r.assistant(answers(m, parts)...)
		return nil
	case "developer":
		role, rest = utp.RoleSystem, rest.WithText(asRole, m.Role)
	case "system":
		rest = codec.Marked(rest, shape.Field{Name: asRole, Value: shape.Quote(m.Role).Raw})
	case "user":
	default:
		return &shape.Error{Path: "role", Offset: v.Offset, Want: "user, assistant, system or developer, not " + m.Role}
	}
	r.out.Messages = append(r.out.Messages, utp.Message{Role: role, Parts: parts, Extra: codec.PackExtra(provider, rest)})
	return nil
}

// answers gives the texts of an assistant's message what belongs to the message.
func answers(m messageItem, parts []utp.Part) []utp.Part {
	for i, p := range parts {
		t, ok := p.(utp.Text)
		if !ok {
			continue
		}
		own, _ := codec.UnpackExtra(t.Extra, provider)
		own = own.WithText("id", m.ID).WithText("status", m.Status).With("phase", shape.Value{Raw: m.Rest.Get("phase")})
		t.Extra = codec.PackExtra(provider, own)
		parts[i] = t
	}
	return parts
}

func part(v shape.Value) (utp.Part, *shape.Error) {
	p, err := readPart.Read(v)
	if err != nil {
		return nil, err
	}
	switch p.Type {
	case "input_text", "output_text", "text":
		rest := p.Rest
		for _, empty := range []string{"annotations", "logprobs"} {
			if string(rest.Get(empty)) == "[]" {
				rest = rest.Without(empty)
			}
		}
		return utp.Text{Text: p.Text, Extra: codec.PackExtra(provider, rest)}, nil
	case "refusal":
		return utp.Text{Text: p.Refusal, Extra: codec.PackExtra(provider, shape.Fields{{Name: "refusal", Value: []byte("true")}})}, nil
	case "input_image":
		return blob(p.ImageURL, "image/*", p, v)
	case "input_file":
		return blob(cmp.Or(p.FileURL, p.FileData), "application/octet-stream", p, v)
	case "":
		return nil, &shape.Error{Path: "type", Offset: v.Offset, Want: "the type of a part"}
	}
	return utp.Unknown{Provider: provider, Raw: v.Raw}, nil
}

// blob reads a file: a data: URL or the URL of it. One by its id is the
// provider's own.
func blob(url, mime string, p contentPart, v shape.Value) (utp.Part, *shape.Error) {
	if url == "" {
		return utp.Unknown{Provider: provider, Raw: v.Raw}, nil
	}
	out, err := codec.ReadFile(url, v)
	if out.URL != "" && !strings.HasPrefix(mime, "image/") {
		out.MIME = mime
	}
	out.Name, out.Detail, out.Extra = p.FileName, p.Detail, codec.PackExtra(provider, p.Rest)
	return out, err
}

// thought reads reasoning. What this package sealed names another origin.
func (r *reading) thought(v shape.Value) *shape.Error {
	j, err := readThought.Read(v)
	if err != nil {
		return err
	}
	words, open := reasoningText(j)
	if t, ok := codec.Unseal(j.Encrypted); ok {
		t.Text = words
		r.assistant(t)
		return nil
	}
	rest := j.Rest
	if open {
		rest = codec.Marked(rest, codec.Mark(inContent))
	}
	r.assistant(utp.Think{Text: words, Signature: j.Encrypted, ItemID: j.ID, Provider: provider, Extra: codec.PackExtra(provider, rest)})
	return nil
}

func (r *reading) call(v shape.Value) *shape.Error {
	j, err := readCall.Read(v)
	switch {
	case err != nil:
		return err
	case j.Name == "":
		return &shape.Error{Path: "name", Offset: v.Offset, Want: "the name of a tool"}
	}
	rest := j.Rest.WithText("id", j.ID).WithText("status", j.Status)
	c := utp.Call{ID: codec.OriginID(j.CallID), Name: j.Name, Source: utp.SourceNative, Extra: codec.PackExtra(provider, rest)}
	if j.Namespace != "" {
		c.Name = j.Namespace + "__" + j.Name
	}
	switch {
	case j.Type == "custom_tool_call":
		if j.Input != nil {
			c.RawArgs = *j.Input
		}
		c.Kind, c.Args = utp.CustomCall, codec.CustomArgs(c.RawArgs)
	case j.Arguments != nil:
		c.Args, c.RawArgs = codec.ReadArguments(shape.Quote(*j.Arguments))
	}
	r.names[c.ID] = c.Name
	r.assistant(c)
	return nil
}

func (r *reading) result(v shape.Value) *shape.Error {
	j, err := readOutput.Read(v)
	if err != nil {
		return err
	}
	id := codec.OriginID(j.CallID)
	out := utp.Result{CallID: id, Name: r.names[id], Status: utp.StatusOK, Extra: codec.PackExtra(provider, j.Rest)}
	if out.Parts, err = codec.ReadParts(j.Output, "parts", part); err != nil {
		return shape.Inside(err, "output", -1)
	}
	r.out.Messages = append(r.out.Messages, utp.Message{Role: utp.RoleTool, Parts: []utp.Part{history.Unmarked(out)}})
	return nil
}
