package responses

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
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
	front  Front
	in     requestJSON
	out    utp.Request
	names  map[string]string // the calls' tools by id, for the results that follow
	losses []wire.Loss
}

// Read reads the body of a POST to /v1/responses or /v1/responses/input_tokens.
// What is wrong with it is a *wire.InputError.
func (f Front) Read(r wire.HTTPRequest) (*utp.Request, []wire.Loss, error) {
	in := reading{front: f, names: map[string]string{}}
	if err := in.read(r); err != nil {
		return nil, nil, err
	}
	return &in.out, in.losses, nil
}

func (r *reading) read(h wire.HTTPRequest) (err *wire.InputError) {
	body, err := wire.Body(h.Body)
	if err != nil {
		return err
	}
	if r.in, err = readRequest.Read(body); err != nil {
		return err
	}
	r.out = utp.Request{Model: r.in.Model, Stream: r.in.Stream}
	for _, step := range []func() *wire.InputError{r.stored, r.tools, r.input, r.choice, r.params} {
		if err := step(); err != nil {
			return err
		}
	}
	r.extra()
	return nil
}

// stored refuses what only a server with a store can do.
func (r *reading) stored() *wire.InputError {
	if r.front.Stored {
		return nil
	}
	want := "the whole conversation in input: replies are not stored here"
	switch {
	case r.in.Previous != "":
		return &wire.InputError{Path: "previous_response_id", Offset: -1, Want: want}
	case !r.in.Conversation.IsZero():
		return &wire.InputError{Path: "conversation", Offset: r.in.Conversation.Offset, Want: want}
	case r.in.Background:
		return &wire.InputError{Path: "background", Offset: -1, Want: "false: replies are not stored here"}
	}
	return nil
}

// extra keeps what the model has no place for, and the exact forms of what it has.
func (r *reading) extra() {
	in, rest := r.in, r.in.Rest
	keep := func(name string, v wire.Value) {
		if !v.IsZero() {
			rest = append(rest, wire.Field{Name: name, Value: v.Raw})
		}
	}
	keep("reasoning", in.Reasoning)
	keep("text", in.Text)
	keep("conversation", in.Conversation)
	for _, f := range []struct{ name, value string }{{"user", in.User}, {"safety_identifier", in.Safety}, {"previous_response_id", in.Previous}} {
		if f.value != "" {
			keep(f.name, wire.JSON(f.value, nil))
		}
	}
	if in.Background {
		keep("background", wire.JSON(true, nil))
	}
	if in.Store != nil {
		keep("store", wire.JSON(*in.Store, nil))
	}
	if len(in.Include) > 0 {
		keep("include", wire.JSON(in.Include, nil))
	}
	if r.out.Choice.Mode == utp.Auto && in.ToolChoice.Kind() == '{' && len(r.out.Choice.Allowed) == 0 {
		keep("tool_choice", in.ToolChoice)
	}
	r.out.Extra = wire.PackExtra(provider, rest)
}

func (r *reading) params() *wire.InputError {
	in, p := r.in, &r.out.Params
	p.MaxTokens, p.Temperature, p.TopP = in.MaxTokens, in.Temperature, in.TopP
	if p.User = in.Safety; p.User == "" {
		p.User = in.User
	}
	if !in.Reasoning.IsZero() {
		j, err := readReasoning.Read(in.Reasoning)
		if err != nil {
			return wire.Inside(err, "reasoning", -1)
		}
		p.Effort = j.Effort
	}
	if !in.Text.IsZero() {
		j, err := readFormat.Read(in.Text)
		if err != nil {
			return wire.Inside(err, "text", -1)
		}
		p.Schema = schemaOf(j.Format)
	}
	return nil
}

func (r *reading) choice() *wire.InputError {
	c := &r.out.Choice
	c.Parallel = r.in.Parallel
	v := r.in.ToolChoice
	if v.IsZero() {
		return nil
	}
	if v.Kind() == '"' {
		word, err := v.Text()
		mode, known := modes[word]
		if err == nil && !known {
			err = &wire.InputError{Offset: v.Offset, Want: "auto, required, none or an object"}
		}
		c.Mode = mode
		return wire.Inside(err, "tool_choice", -1)
	}
	j, err := readChoice.Read(v)
	if err != nil {
		return wire.Inside(err, "tool_choice", -1)
	}
	switch j.Type {
	case "function", "custom":
		c.Mode, c.Name = utp.Named, r.fullName(j.Name)
	case "allowed_tools":
		c.Mode = modes[j.Mode]
		for _, t := range j.Tools {
			c.Allowed = append(c.Allowed, r.fullName(t.Name))
		}
	default:
		r.losses = append(r.losses, wire.Loss{Path: "tool_choice", What: "only this API understands it", Why: "it names a tool of the provider's own"})
	}
	return nil
}

var modes = map[string]utp.ChoiceMode{"auto": utp.Auto, "required": utp.Required, "any": utp.Required, "none": utp.None}

// fullName is the name of a tool that may be in a namespace.
func (r *reading) fullName(name string) string {
	full := name
	for _, t := range r.out.Tools {
		own, _ := wire.UnpackExtra(t.Extra, provider)
		switch {
		case t.Name == name:
			return name
		case own.Text(nameInNamespace) == name:
			full = t.Name
		}
	}
	return full
}

func (r *reading) tools() *wire.InputError {
	seen := map[string]int{}
	for i, v := range r.in.Tools {
		t, err := readTool.Read(v)
		if err != nil {
			return wire.Inside(err, "tools", i)
		}
		if t.Type == "namespace" {
			err = r.namespace(t)
		} else {
			r.tool(t, v, seen)
		}
		if err != nil {
			return wire.Inside(err, "tools", i)
		}
	}
	return wire.CheckTools(r.out.Tools)
}

// tool is a function, a custom tool, or for any other type one of the provider's own.
func (r *reading) tool(t toolJSON, v wire.Value, seen map[string]int) {
	if t.Type == "function" || t.Type == "custom" || t.Type == "" {
		r.out.Tools = append(r.out.Tools, tool(t))
		return
	}
	all, _ := wire.Members(v)
	name := t.Type
	if seen[name]++; seen[name] > 1 {
		name = fmt.Sprintf("%s_%d", name, seen[name])
	}
	r.out.Tools = append(r.out.Tools, utp.Tool{Name: name, Kind: utp.HostedTool, Extra: wire.PackExtra(provider, all)})
}

func tool(t toolJSON) utp.Tool {
	out := utp.Tool{Name: t.Name, Description: t.Description, Schema: t.Parameters, Strict: t.Strict}
	rest := t.Rest
	if t.Type == "custom" {
		out.Kind = utp.CustomTool
	} else if t.Strict == nil {
		rest = append(rest, wire.Field{Name: strictDefault, Value: []byte("null")})
	}
	out.Extra = wire.PackExtra(provider, rest)
	return out
}

// namespace adds the tools of a namespace as NAMESPACE__NAME.
func (r *reading) namespace(ns toolJSON) *wire.InputError {
	if ns.Name == "" {
		return &wire.InputError{Path: "name", Offset: -1, Want: "the name of the namespace"}
	}
	for i, v := range ns.Tools {
		t, err := readTool.Read(v)
		if err != nil {
			return wire.Inside(err, "tools", i)
		}
		t.Rest = append(t.Rest, wire.Field{Name: inNamespace, Value: wire.JSON(ns.Name, nil).Raw},
			wire.Field{Name: namespaceText, Value: wire.JSON(ns.Description, nil).Raw}, wire.Field{Name: nameInNamespace, Value: wire.JSON(t.Name, nil).Raw})
		out := tool(t)
		out.Name = ns.Name + "__" + t.Name
		r.out.Tools = append(r.out.Tools, out)
	}
	return nil
}

func (r *reading) input() *wire.InputError {
	if r.in.Instructions != "" {
		r.out.Messages = append(r.out.Messages, utp.NewText(utp.System, r.in.Instructions))
	}
	v := r.in.Input
	switch v.Kind() {
	case 0:
		if r.front.Stored {
			return nil
		}
		return &wire.InputError{Path: "input", Offset: -1, Want: "a text or an array of items"}
	case '"':
		words, err := v.Text()
		r.out.Messages = append(r.out.Messages, utp.NewText(utp.User, words))
		return wire.Inside(err, "input", -1)
	}
	list, err := v.Elements()
	if err != nil {
		return wire.Inside(err, "input", -1)
	}
	for i, v := range list {
		if err := r.item(v); err != nil {
			return wire.Inside(err, "input", i)
		}
	}
	return nil
}

// item adds an item. Those of the assistant that follow each other are one message.
func (r *reading) item(v wire.Value) *wire.InputError {
	head, err := readHead.Read(v)
	if err != nil {
		return err
	}
	switch kind := string(head.Type); {
	case kind == "message", kind == "" && head.Role != "":
		return r.message(v)
	case kind == "":
		return &wire.InputError{Path: "type", Offset: v.Offset, Want: "the type of an item"}
	case kind == "reasoning":
		return r.thought(v)
	case kind == "function_call", kind == "custom_tool_call":
		return r.call(v)
	case kind == "function_call_output", kind == "custom_tool_call_output":
		return r.result(v)
	case kind == "item_reference" && !r.front.Stored:
		return &wire.InputError{Path: "type", Offset: v.Offset, Want: "whole items: replies are not stored here"}
	case strings.HasSuffix(kind, "_output"), strings.HasSuffix(kind, "_response"):
		r.out.Messages = append(r.out.Messages, utp.Message{Role: utp.User, Parts: []utp.Part{utp.Unknown{Provider: provider, Raw: v.Raw}}})
	default:
		r.assistant(utp.Unknown{Provider: provider, Raw: v.Raw})
	}
	return nil
}

// assistant adds parts to the assistant's message that is under way.
func (r *reading) assistant(parts ...utp.Part) {
	n := len(r.out.Messages) - 1
	if n < 0 || r.out.Messages[n].Role != utp.Assistant {
		r.out.Messages = append(r.out.Messages, utp.Message{Role: utp.Assistant})
		n++
	}
	m := &r.out.Messages[n]
	m.Parts = append(m.Parts, parts...)
}

func (r *reading) message(v wire.Value) *wire.InputError {
	m, err := readMessage.Read(v)
	if err != nil {
		return err
	}
	parts, err := r.parts(m.Content)
	if err != nil {
		return wire.Inside(err, "content", -1)
	}
	rest, role := m.Rest, utp.Role(m.Role)
	switch m.Role {
	case "assistant":
		r.assistant(answers(m, parts)...)
		return nil
	case "developer", "system":
		role = utp.System
		rest = append(rest, wire.Field{Name: asRole, Value: wire.JSON(m.Role, nil).Raw})
	case "user":
	default:
		return &wire.InputError{Path: "role", Offset: v.Offset, Want: "user, assistant, system or developer, not " + m.Role}
	}
	r.out.Messages = append(r.out.Messages, utp.Message{Role: role, Parts: parts, Extra: wire.PackExtra(provider, rest)})
	return nil
}

// answers gives the texts of an assistant's message what belongs to the message.
func answers(m messageItem, parts []utp.Part) []utp.Part {
	for i, p := range parts {
		t, ok := p.(utp.Text)
		if !ok {
			continue
		}
		own, _ := wire.UnpackExtra(t.Extra, provider)
		for _, f := range []struct{ name, value string }{{"id", m.ID}, {"status", m.Status}} {
			if f.value != "" {
				own = own.Set(f.name, wire.JSON(f.value, nil).Raw)
			}
		}
		if phase := m.Rest.Get("phase"); phase != nil {
			own = own.Set("phase", phase)
		}
		t.Extra = wire.PackExtra(provider, own)
		parts[i] = t
	}
	return parts
}

// parts reads a content: a text, or an array of parts.
func (r *reading) parts(v wire.Value) ([]utp.Part, *wire.InputError) {
	if v.Kind() == '"' {
		words, err := v.Text()
		return []utp.Part{utp.Text{Text: words}}, err
	}
	if v.Kind() != '[' {
		return nil, &wire.InputError{Offset: v.Offset, Want: "a text or an array of parts"}
	}
	list, err := v.Elements()
	if err != nil {
		return nil, err
	}
	out := make([]utp.Part, len(list))
	for i, v := range list {
		if out[i], err = part(v); err != nil {
			return nil, wire.Inside(err, "", i)
		}
	}
	return out, nil
}

func part(v wire.Value) (utp.Part, *wire.InputError) {
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
		return utp.Text{Text: p.Text, Extra: wire.PackExtra(provider, rest)}, nil
	case "refusal":
		return utp.Text{Text: p.Refusal, Extra: wire.PackExtra(provider, wire.Fields{{Name: "refusal", Value: []byte("true")}})}, nil
	case "input_image":
		return blob(p.ImageURL, "image/*", p, v)
	case "input_file":
		if p.FileURL != "" {
			return blob(p.FileURL, "application/octet-stream", p, v)
		}
		return blob(p.FileData, "application/octet-stream", p, v)
	case "":
		return nil, &wire.InputError{Path: "type", Offset: v.Offset, Want: "the type of a part"}
	}
	return utp.Unknown{Provider: provider, Raw: v.Raw}, nil
}

// blob reads a file: a data: URL or the URL of it. One by its id is the
// provider's own.
func blob(url, mime string, p contentPart, v wire.Value) (utp.Part, *wire.InputError) {
	if url == "" {
		return utp.Unknown{Provider: provider, Raw: v.Raw}, nil
	}
	out := utp.Blob{Name: p.FileName, Extra: wire.PackExtra(provider, p.Rest)}
	head, data, inline := strings.Cut(url, ",")
	kind, ok := strings.CutPrefix(head, "data:")
	if !ok || !inline {
		if out.URL = url; !strings.HasPrefix(mime, "image/") {
			out.MIME = mime
		}
		return out, nil
	}
	out.MIME = strings.TrimSuffix(kind, ";base64")
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, &wire.InputError{Offset: v.Offset, Want: fmt.Sprintf("base64 in the data: URL (%v)", err)}
	}
	out.Data = b
	return out, nil
}

// thought reads reasoning. What this package sealed names another origin.
func (r *reading) thought(v wire.Value) *wire.InputError {
	j, err := readThought.Read(v)
	if err != nil {
		return err
	}
	words, open := reasoningText(j)
	if t, ok := wire.Unseal(j.Encrypted); ok {
		t.Text = words
		r.assistant(t)
		return nil
	}
	rest := j.Rest
	if open {
		rest = append(rest, wire.Field{Name: inContent, Value: []byte("true")})
	}
	r.assistant(utp.Think{Text: words, Signature: j.Encrypted, ItemID: j.ID, Provider: provider, Extra: wire.PackExtra(provider, rest)})
	return nil
}

func (r *reading) call(v wire.Value) *wire.InputError {
	j, err := readCall.Read(v)
	switch {
	case err != nil:
		return err
	case j.Name == "":
		return &wire.InputError{Path: "name", Offset: v.Offset, Want: "the name of a tool"}
	}
	rest := j.Rest
	for _, f := range []struct{ name, value string }{{"id", j.ID}, {"status", j.Status}} {
		if f.value != "" {
			rest = append(rest, wire.Field{Name: f.name, Value: wire.JSON(f.value, nil).Raw})
		}
	}
	c := utp.Call{ID: wire.OriginID(j.CallID), Name: j.Name, Source: utp.Native, Extra: wire.PackExtra(provider, rest)}
	if j.Namespace != "" {
		c.Name = j.Namespace + "__" + j.Name
	}
	switch {
	case j.Type == "custom_tool_call":
		if j.Input != nil {
			c.RawArgs = *j.Input
		}
		c.Kind, c.Args = utp.CustomCall, wire.CustomArgs(c.RawArgs)
	case j.Arguments != nil && wire.IsObject([]byte(*j.Arguments)):
		c.Args = []byte(*j.Arguments)
	case j.Arguments != nil:
		c.RawArgs = *j.Arguments
	}
	r.names[c.ID] = c.Name
	r.assistant(c)
	return nil
}

func (r *reading) result(v wire.Value) *wire.InputError {
	j, err := readOutput.Read(v)
	if err != nil {
		return err
	}
	id := wire.OriginID(j.CallID)
	out := utp.Result{CallID: id, Name: r.names[id], Status: utp.OK, Extra: wire.PackExtra(provider, j.Rest)}
	if out.Parts, err = r.parts(j.Output); err != nil {
		return wire.Inside(err, "output", -1)
	}
	if t, ok := first(out.Parts); ok {
		plain, failed := wire.Unmark(t.Text)
		if failed {
			out.Status = utp.Failed
		}
		if t.Text = plain; plain == "" && failed && len(out.Parts) > 1 {
			out.Parts = out.Parts[1:]
		} else {
			out.Parts[0] = t
		}
	}
	r.out.Messages = append(r.out.Messages, utp.Message{Role: utp.ToolRole, Parts: []utp.Part{out}})
	return nil
}

func first(parts []utp.Part) (t utp.Text, ok bool) {
	if len(parts) > 0 {
		t, ok = parts[0].(utp.Text)
	}
	return t, ok
}
