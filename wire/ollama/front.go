package ollama

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Front poses as an Ollama server. Its streams are lines of JSON (wire.NDJSON).
type Front struct{}

var _ wire.Front = Front{}

// reading is a client's request on its way in.
type reading struct {
	in      requestJSON
	out     utp.Request
	rest    shape.Fields // of the request
	pending []utp.Call   // calls that have no result yet
	losses  []wire.Loss
}

// Read reads the body of a POST to /api/chat or /api/generate. What is wrong with
// it is a *wire.InputError. A request without messages asks only that the model
// be loaded; Loaded is its answer.
func (Front) Read(h wire.HTTPRequest) (*utp.Request, []wire.Loss, error) {
	var r reading
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
	r.out = utp.Request{Model: r.in.Model, Stream: r.in.Stream == nil || *r.in.Stream}
	r.rest = r.in.Rest
	ask := r.messages
	if r.in.Messages == nil && (strings.HasSuffix(h.Path, "/generate") || r.in.Rest.Get("prompt") != nil) {
		ask = func() *shape.Error { return r.prompt(body) }
	}
	for _, step := range []func() *shape.Error{ask, r.tools, r.options, r.think, r.format} {
		if err := step(); err != nil {
			return err
		}
	}
	r.out.Extra = codec.PackExtra(provider, r.rest)
	return nil
}

// prompt reads what /api/generate has in place of messages.
func (r *reading) prompt(body shape.Value) *shape.Error {
	p, err := ofPrompt.Read(body)
	if err != nil {
		return err
	}
	r.rest = r.rest.Without("prompt", "system", "images", "suffix", "template", "context", "raw")
	r.rest = codec.Marked(r.rest, codec.Mark(generate))
	for _, f := range []struct {
		name  string
		given bool
		why   string
	}{
		{"suffix", p.Suffix != "", "a chat has no text behind the reply"}, {"template", p.Template != "", "the model's own is used"},
		{"raw", p.Raw, "a chat is written by the model's template"}, {"context", !p.Context.IsZero(), "tokens mean nothing to another server"},
	} {
		if f.given {
			r.losses = append(r.losses, wire.Loss{Path: f.name, What: "dropped", Why: f.why})
		}
	}
	if p.System != "" {
		r.out.Messages = append(r.out.Messages, utp.NewText(utp.RoleSystem, p.System))
	}
	parts, err := blobs(p.Images)
	if err != nil {
		return err
	}
	if p.Prompt != "" {
		parts = append([]utp.Part{utp.Text{Text: p.Prompt}}, parts...)
	}
	if len(parts) > 0 {
		r.out.Messages = append(r.out.Messages, utp.Message{Role: utp.RoleUser, Parts: parts})
	}
	return nil
}

func (r *reading) messages() *shape.Error {
	for i, v := range r.in.Messages {
		if err := r.message(v); err != nil {
			return shape.Inside(err, "messages", i)
		}
	}
	return nil
}

var roles = map[string]utp.Role{"system": utp.RoleSystem, "user": utp.RoleUser, "assistant": utp.RoleAssistant, "tool": utp.RoleTool}

func (r *reading) message(v shape.Value) *shape.Error {
	m, err := ofMessage.Read(v)
	if err != nil {
		return err
	}
	role, known := roles[m.Role]
	if !known {
		return &shape.Error{Path: "role", Offset: v.Offset, Want: "system, user, assistant or tool, not " + m.Role}
	}
	images, err := blobs(m.Images)
	if err != nil {
		return err
	}
	out := utp.Message{Role: role}
	if role == utp.RoleTool {
		out.Parts = []utp.Part{r.result(m, images)}
		r.out.Messages = append(r.out.Messages, out)
		return nil
	}
	if m.Thinking != "" {
		out.Parts = append(out.Parts, utp.Think{Text: m.Thinking})
	}
	if m.Content != "" {
		out.Parts = append(out.Parts, utp.Text{Text: m.Content})
	}
	out.Parts = append(out.Parts, images...)
	for k, v := range m.ToolCalls {
		c, err := r.call(v, k)
		if err != nil {
			return shape.Inside(err, "tool_calls", k)
		}
		out.Parts = append(out.Parts, c)
	}
	out.Extra = codec.PackExtra(provider, m.Rest)
	r.out.Messages = append(r.out.Messages, out)
	return nil
}

// call reads a call. One without an id gets one, for its result to name.
func (r *reading) call(v shape.Value, place int) (c utp.Call, err *shape.Error) {
	j, err := ofCall.Read(v)
	if err != nil {
		return c, err
	}
	f := j.Function
	if f.Name == "" {
		return c, &shape.Error{Path: "function.name", Offset: v.Offset, Want: "the name of a tool"}
	}
	c = utp.Call{ID: codec.OriginID(j.ID), Name: f.Name, Source: utp.SourceNative, Extra: codec.PackExtra(provider, j.Rest)}
	if c.ID == "" {
		c.ID = codec.MintID(len(r.out.Messages), place, f.Name)
	}
	args := []byte(f.Arguments.Raw)
	if f.Arguments.Kind() == '"' {
		args = []byte(f.Arguments.String())
	}
	switch {
	case len(bytes.TrimSpace(args)) == 0:
		c.Args = json.RawMessage("{}")
	case shape.IsObject(args):
		c.Args = args
	default:
		c.RawArgs = string(args)
	}
	r.pending = append(r.pending, c)
	return c, nil
}

// result reads the result of the call that it names by id, or of the first call
// without a result that has its name, or of the first without a result.
func (r *reading) result(m messageJSON, images []utp.Part) utp.Result {
	out := utp.Result{CallID: codec.OriginID(m.ToolCallID), Name: m.ToolName, Status: utp.StatusOK}
	if c, ok := r.answered(out.CallID, out.Name); ok {
		out.CallID, out.Name = c.ID, c.Name
	}
	text, failed := history.Unmark(m.Content)
	if failed {
		out.Status = utp.StatusFailed
	}
	out.Parts = append([]utp.Part{utp.Text{Text: text}}, images...)
	out.Extra = codec.PackExtra(provider, m.Rest)
	return out
}

func (r *reading) answered(id, name string) (utp.Call, bool) {
	for i, c := range r.pending {
		if id != "" && c.ID == id || id == "" && (name == "" || c.Name == name) {
			r.pending = append(r.pending[:i:i], r.pending[i+1:]...)
			return c, true
		}
	}
	return utp.Call{}, false
}

// blobs reads images: base64, which clients also write as data: URLs.
func blobs(list []shape.Value) (parts []utp.Part, err *shape.Error) {
	for i, v := range list {
		b, err := blob(v)
		if err != nil {
			return nil, shape.Inside(err, "images", i)
		}
		parts = append(parts, b)
	}
	return parts, nil
}

func (r *reading) tools() *shape.Error {
	var names codec.ToolNames
	for i, v := range r.in.Tools {
		t, err := names.ReadFunction(v, provider)
		if err != nil {
			return shape.Inside(err, "tools", i)
		}
		r.out.Tools = append(r.out.Tools, t)
	}
	return nil
}

// options reads the settings of the model. A num_predict below 1 is no limit.
func (r *reading) options() *shape.Error {
	if r.in.Options.IsZero() {
		return nil
	}
	o, err := ofOptions.Read(r.in.Options)
	if err != nil {
		return shape.Inside(err, "options", -1)
	}
	p := &r.out.Params
	p.Context, p.MaxTokens, p.Temperature, p.TopP, p.TopK, p.Seed = o.NumCtx, o.NumPredict, o.Temperature, o.TopP, o.TopK, o.Seed
	p.Presence, p.Frequency = o.Presence, o.Frequency
	rest := o.Rest
	if n := o.NumPredict; n != nil && *n < 1 {
		p.MaxTokens = nil
		rest = append(rest, shape.Field{Name: "num_predict", Value: shape.JSON(*n, nil).Raw})
	}
	switch o.Stop.Kind() {
	case 0:
	case '"':
		p.Stop = []string{o.Stop.String()}
	default:
		if p.Stop, err = texts(o.Stop); err != nil {
			return shape.Inside(shape.Inside(err, "stop", -1), "options", -1)
		}
	}
	if rest != nil {
		r.rest = append(r.rest, shape.Field{Name: "options", Value: shape.JSON(struct{}{}, rest).Raw})
	}
	return nil
}

func texts(v shape.Value) (out []string, err *shape.Error) {
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

// think reads whether to reason, or how much.
func (r *reading) think() *shape.Error {
	switch v := r.in.Think; v.Kind() {
	case 0:
	case 't', 'f', '"':
		r.out.Params.Effort = effortOf(v)
		r.rest = codec.Forms(r.rest, codec.Form{Name: "think", Value: v, All: true})
	default:
		return &shape.Error{Path: "think", Offset: v.Offset, Want: "true, false or a level: low, medium, high"}
	}
	return nil
}

func (r *reading) format() *shape.Error {
	v := r.in.Format
	if v.Kind() == '"' && v.String() != "json" && v.String() != "" {
		return &shape.Error{Path: "format", Offset: v.Offset, Want: `"json" or a JSON schema`}
	}
	r.out.Params.Schema = schemaOf(v)
	r.out.Params.SchemaHeld = codec.HeldAnyway(r.out.Params.Schema)
	r.rest = codec.Forms(r.rest, codec.Form{Name: "format", Value: v, All: true})
	return nil
}
