package anthropic

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Front poses as Anthropic.
type Front struct{}

var _ wire.Front = Front{}

// reading is a client's request on its way in.
type reading struct {
	in  requestJSON
	out utp.Request
	// names are the calls' tools by id, for the results that follow.
	names  map[string]string
	losses []wire.Loss

	// What is read into again and again.
	text textBlock
	use  toolUseBlock
}

// Read reads the body of a POST to /v1/messages or /v1/messages/count_tokens.
// What is wrong with it is a *wire.InputError.
func (Front) Read(r wire.HTTPRequest) (*utp.Request, []wire.Loss, error) {
	in := reading{names: map[string]string{}}
	if err := in.read(r); err != nil {
		return nil, nil, (*wire.InputError)(err)
	}
	return &in.out, in.losses, nil
}

func (r *reading) read(h wire.HTTPRequest) (err *shape.Error) {
	body, err := shape.Body(h.Body)
	if err != nil {
		return err
	}
	if r.in, err = readRequest.Read(body); err != nil {
		return err
	}
	if r.in.Messages == nil {
		return &shape.Error{Path: "messages", Offset: -1, Want: "an array of messages"}
	}
	r.out = utp.Request{Model: r.in.Model, Stream: r.in.Stream}
	if err := shape.Steps(r.threads, r.system, r.messages, r.tools, r.choice, r.params); err != nil {
		return err
	}
	r.extra(h)
	return nil
}

// thread is where a client says that the server holds the conversation.
const thread = "thread"

// threads refuses a request that holds the new messages only. The SDKs' tool
// runners send the whole conversation when the error says why.
// Source: @anthropic-ai/sdk, ThreadState.
func (r *reading) threads() *shape.Error {
	if raw := r.in.Rest.Get(thread); len(raw) > 0 && string(raw) != "null" {
		return &shape.Error{Path: thread, Offset: -1, Want: "the whole conversation in messages: it is not held here"}
	}
	return nil
}

// extra keeps what the model has no place for, and the exact forms of what it has.
func (r *reading) extra(h wire.HTTPRequest) {
	in := r.in
	t, err := readThinking.Read(in.Thinking)
	tokens, _ := wire.Budget(r.out.Params.Effort)
	plain := err == nil && codec.Only(in.Thinking, "type", "budget_tokens") && (t.Type == "disabled" || t.Type == "enabled" && t.Budget == tokens)
	rest := codec.Forms(in.Rest,
		codec.Form{Name: "thinking", Value: in.Thinking, All: plain},
		codec.Form{Name: "output_config", Value: in.OutputConfig, All: codec.Only(in.OutputConfig, "effort", "format")},
		codec.Form{Name: "metadata", Value: in.Metadata, All: codec.Only(in.Metadata, "user_id")})
	r.out.Extra = codec.PackExtra(provider, rest.WithText(betas, h.Get(betas)))
}

func (r *reading) params() *shape.Error {
	in, p := r.in, &r.out.Params
	p.MaxTokens, p.Temperature, p.TopP, p.TopK, p.Stop = in.MaxTokens, in.Temperature, in.TopP, in.TopK, in.Stop
	if !in.Metadata.IsZero() {
		m, err := readMetadata.Read(in.Metadata)
		if err != nil {
			return shape.Inside(err, "metadata", -1)
		}
		p.User = m.UserID
	}
	if !in.Thinking.IsZero() {
		if _, err := readThinking.Read(in.Thinking); err != nil {
			return shape.Inside(err, "thinking", -1)
		}
	}
	if !in.OutputConfig.IsZero() {
		if _, err := readOutput.Read(in.OutputConfig); err != nil {
			return shape.Inside(err, "output_config", -1)
		}
	}
	p.Effort, p.Schema = said(in.Thinking, in.OutputConfig)
	p.SchemaHeld = codec.HeldAnyway(p.Schema)
	return nil
}

func (r *reading) choice() *shape.Error {
	if r.in.ToolChoice.IsZero() {
		return nil
	}
	c := choiceJSON{}
	var err *shape.Error
	if r.in.ToolChoice.Kind() == '"' {
		c.Type, err = r.in.ToolChoice.Text()
	} else {
		c, err = readChoice.Read(r.in.ToolChoice)
	}
	if err != nil {
		return shape.Inside(err, "tool_choice", -1)
	}
	out := &r.out.Choice
	switch c.Type {
	case "auto":
	case "any", "required":
		out.Mode = utp.ChoiceRequired
	case "none":
		out.Mode = utp.ChoiceNone
	case "tool":
		out.Mode, out.Name = utp.ChoiceNamed, c.Name
	default:
		return &shape.Error{Path: "tool_choice.type", Offset: r.in.ToolChoice.Offset, Want: "auto, any, tool or none"}
	}
	if c.One != nil {
		many := !*c.One
		out.Parallel = &many
	}
	return shape.Inside(codec.Offered(*out, r.out.Tools), "tool_choice", -1)
}

func (r *reading) tools() *shape.Error {
	var names codec.ToolNames
	for i, v := range r.in.Tools {
		t, err := readTool.Read(v)
		out := tool(t, v)
		if err == nil {
			err = names.Add(out.Name, v)
		}
		if err != nil {
			return shape.Inside(err, "tools", i)
		}
		r.out.Tools = append(r.out.Tools, out)
	}
	return nil
}

// tool is a function, or for any other type than "custom" a tool of Anthropic's own.
func tool(t toolJSON, v shape.Value) utp.Tool {
	if kind := t.Rest.Text("type"); kind != "" && kind != "custom" {
		all, _ := shape.Members(v)
		if t.Name == "" {
			t.Name = kind
		}
		return utp.Tool{Name: t.Name, Kind: utp.HostedTool, Extra: codec.PackExtra(provider, all)}
	}
	rest := t.Rest
	if kind := rest.Get("type"); kind != nil {
		rest = codec.Marked(rest.Without("type"), shape.Field{Name: "type", Value: kind})
	}
	return utp.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, Strict: t.Strict, Extra: codec.PackExtra(provider, rest)}
}

func (r *reading) system() *shape.Error {
	if r.in.System.IsZero() {
		return nil
	}
	parts, err := r.parts(r.in.System)
	if err != nil {
		return shape.Inside(err, "system", -1)
	}
	for i, p := range parts {
		if t, ok := p.(utp.Text); ok && strings.HasPrefix(t.Text, billing) {
			parts[i] = utp.Unknown{Provider: provider, Raw: shape.JSON(textBlock{Type: "text", Text: t.Text}, own(t)).Raw}
		}
	}
	if len(parts) > 0 {
		r.out.Messages = append(r.out.Messages, utp.Message{Role: utp.RoleSystem, Parts: parts})
	}
	return nil
}

// billing begins a line of the system prompt that changes with every request. It
// would spoil other servers' caches of the prompt: only Anthropic gets it.
const billing = "x-anthropic-billing-header"

func own(t utp.Text) shape.Fields {
	f, _ := codec.UnpackExtra(t.Extra, provider)
	return f
}

func (r *reading) messages() *shape.Error {
	r.out.Messages = slices.Grow(r.out.Messages, len(r.in.Messages))
	for i, v := range r.in.Messages {
		if err := r.message(v); err != nil {
			return shape.Inside(err, "messages", i)
		}
	}
	return nil
}

func (r *reading) message(v shape.Value) *shape.Error {
	m, err := readMessage.Read(v)
	if err != nil {
		return err
	}
	role := utp.Role(m.Role)
	if role != utp.RoleUser && role != utp.RoleAssistant && role != utp.RoleSystem {
		return &shape.Error{Path: "role", Offset: v.Offset, Want: "user, assistant or system, not " + m.Role}
	}
	parts, err := r.parts(m.Content)
	if err != nil {
		return shape.Inside(err, "content", -1)
	}
	rest := m.Rest
	if role == utp.RoleSystem {
		rest = codec.Marked(rest, codec.Mark(inline))
	}
	out := utp.Message{Role: role, Parts: parts, Extra: codec.PackExtra(provider, rest)}
	r.out.Messages = append(r.out.Messages, history.ResultsFirst(out)...)
	return nil
}

func (r *reading) parts(v shape.Value) ([]utp.Part, *shape.Error) {
	return codec.ReadParts(v, "blocks", r.part)
}

func (r *reading) part(v shape.Value) (utp.Part, *shape.Error) {
	kind, err := v.TextAt("type")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "":
		return nil, &shape.Error{Path: "type", Offset: v.Offset, Want: "the type of a block"}
	case "text":
		err := readText.Into(&r.text, v)
		return utp.Text{Text: r.text.Text, Extra: codec.PackExtra(provider, r.text.Rest)}, err
	case "thinking":
		t, err := readThink.Read(v)
		return think(t), err
	case "redacted_thinking":
		t, err := readRedacted.Read(v)
		return utp.Think{Redacted: true, Signature: t.Data, Provider: provider, Extra: codec.PackExtra(provider, t.Rest)}, err
	case "tool_use":
		return r.call(v)
	case "tool_result":
		return r.result(v)
	case "image", "document":
		return blob(v)
	}
	return utp.Unknown{Provider: provider, Raw: v.Raw}, nil
}

// think reads reasoning. A signature that this package sealed names another origin.
func think(t thinkingBlock) utp.Think {
	if of, ok := codec.Unseal(t.Signature); ok {
		of.Text = t.Thinking
		return of
	}
	out := utp.Think{Text: t.Thinking, Signature: t.Signature, Extra: codec.PackExtra(provider, t.Rest)}
	if t.Signature != "" {
		out.Provider = provider
	}
	return out
}

func (r *reading) call(v shape.Value) (utp.Part, *shape.Error) {
	t := &r.use
	switch err := readToolUse.Into(t, v); {
	case err != nil:
		return nil, err
	case t.Name == "":
		return nil, &shape.Error{Path: "name", Offset: v.Offset, Want: "the name of a tool"}
	}
	c := utp.Call{ID: codec.OriginID(t.ID), Name: t.Name, Source: utp.SourceNative, Extra: codec.PackExtra(provider, t.Rest)}
	if c.Args = t.Input; (shape.Value{Raw: t.Input}).Kind() != '{' {
		c.Args, c.RawArgs = nil, string(t.Input)
	}
	r.names[c.ID] = c.Name
	return c, nil
}

func (r *reading) result(v shape.Value) (utp.Part, *shape.Error) {
	t, err := readResult.Read(v)
	if err != nil {
		return nil, err
	}
	id := codec.OriginID(t.CallID)
	out := utp.Result{CallID: id, Name: r.names[id], Status: utp.StatusOK, Extra: codec.PackExtra(provider, t.Rest)}
	if t.IsError {
		out.Status = utp.StatusFailed
	}
	if !t.Content.IsZero() {
		if out.Parts, err = r.parts(t.Content); err != nil {
			return nil, shape.Inside(err, "content", -1)
		}
	}
	return out, nil
}

// blob reads an image or a document. One by file id, or of further content, is
// Anthropic's own.
func blob(v shape.Value) (utp.Part, *shape.Error) {
	f, err := readFile.Read(v)
	if err != nil {
		return nil, err
	}
	out := utp.Blob{MIME: f.Source.Media, Name: f.Title, Extra: codec.PackExtra(provider, f.Rest)}
	switch f.Source.Type {
	case "url":
		out.URL = f.Source.URL
		if f.Type == "document" && out.MIME == "" {
			out.MIME = "application/pdf"
		}
	case "text":
		out.Data = []byte(f.Source.Data)
	case "base64":
		b, err := base64.StdEncoding.DecodeString(f.Source.Data)
		if err != nil {
			return nil, &shape.Error{Path: "source.data", Offset: v.Offset, Want: fmt.Sprintf("base64 (%v)", err)}
		}
		out.Data = b
	default:
		return utp.Unknown{Provider: provider, Raw: v.Raw}, nil
	}
	return out, nil
}
