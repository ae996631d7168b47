package gemini

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/history"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Front poses as Gemini.
type Front struct{}

var _ wire.Front = Front{}

// Framing is how the stream for a request is cut: as server-sent events, or for
// clients that did not ask for them as lines that are one JSON array together.
func (Front) Framing(r *utp.Request) wire.Framing {
	own, _ := codec.UnpackExtra(r.Extra, provider)
	if own.Get(array) != nil {
		return wire.NDJSON
	}
	return wire.SSE
}

// reading is a client's request on its way in.
type reading struct {
	in     requestJSON
	out    utp.Request
	losses []wire.Loss
}

// Read reads the body of a POST to …/models/MODEL:generateContent,
// :streamGenerateContent or :countTokens. What is wrong with it is a
// *wire.InputError.
func (Front) Read(r wire.HTTPRequest) (*utp.Request, []wire.Loss, error) {
	var in reading
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
	if !r.in.Inner.IsZero() {
		if r.in, err = readRequest.Read(r.in.Inner); err != nil {
			return shape.Inside(err, "generateContentRequest", -1)
		}
	}
	if r.in.Contents == nil {
		return &shape.Error{Path: "contents", Offset: -1, Want: "an array of contents"}
	}
	method := r.model(h.Path)
	for _, step := range []func() *shape.Error{r.system, r.contents, r.tools, r.config, r.generation} {
		if err := step(); err != nil {
			return err
		}
	}
	g, _ := readGeneration.Read(r.in.Generation)
	if n := g.Candidates; n != nil && *n > 1 {
		r.losses = append(r.losses, wire.Loss{Path: "generationConfig.candidateCount", What: "one reply is given", Why: "more at once are not passed on"})
	}
	rest := codec.Forms(r.in.Rest,
		codec.Form{Name: "generationConfig", Value: r.in.Generation, All: len(g.Rest) == 0 && g.Thinking.IsZero()},
		codec.Form{Name: "toolConfig", Value: r.in.ToolConfig, All: codec.Only(r.in.ToolConfig, "functionCallingConfig", "function_calling_config")})
	if r.out.Stream = method == "streamGenerateContent"; r.out.Stream && !slices.Contains(h.Query["alt"], "sse") {
		rest = codec.Marked(rest, codec.Mark(array))
	}
	r.out.Extra = codec.PackExtra(provider, rest)
	return nil
}

// model takes the model from the path and gives the method.
func (r *reading) model(path string) string {
	name, method := bare(path), ""
	if i := strings.LastIndexByte(name, ':'); i >= 0 {
		name, method = name[:i], name[i+1:]
	}
	if r.out.Model = name; r.in.Model != "" {
		r.out.Model = bare(r.in.Model)
	}
	return method
}

func (r *reading) system() *shape.Error {
	if r.in.System.IsZero() {
		return nil
	}
	if r.in.System.Kind() == '"' {
		r.out.Messages = append(r.out.Messages, utp.NewText(utp.RoleSystem, r.in.System.String()))
		return nil
	}
	c, err := readContent.Read(r.in.System)
	if err != nil {
		return shape.Inside(err, "systemInstruction", -1)
	}
	parts, err := r.parts(c.Parts)
	r.out.Messages = append(r.out.Messages, utp.Message{Role: utp.RoleSystem, Parts: parts})
	return shape.Inside(err, "systemInstruction", -1)
}

func (r *reading) contents() *shape.Error {
	for i, v := range r.in.Contents {
		if err := r.content(v); err != nil {
			return shape.Inside(err, "contents", i)
		}
	}
	return nil
}

func (r *reading) content(v shape.Value) *shape.Error {
	c, err := readContent.Read(v)
	if err != nil {
		return err
	}
	role := utp.RoleUser
	switch c.Role {
	case "model":
		role = utp.RoleAssistant
	case "", "user", "function", "tool":
	default:
		return &shape.Error{Path: "role", Offset: v.Offset, Want: "user or model, not " + c.Role}
	}
	parts, err := r.parts(c.Parts)
	if err != nil {
		return err
	}
	out := utp.Message{Role: role, Parts: parts, Extra: codec.PackExtra(provider, c.Rest)}
	if role == utp.RoleAssistant {
		r.spoken(out)
		return nil
	}
	r.out.Messages = append(r.out.Messages, history.ResultsFirst(out)...)
	return nil
}

func (r *reading) parts(list []shape.Value) ([]utp.Part, *shape.Error) {
	var out []utp.Part
	for i, v := range list {
		p, err := r.part(v)
		if err != nil {
			return nil, shape.Inside(err, "parts", i)
		}
		out = join(out, p)
	}
	return out, nil
}

// join adds a part. Reasoning comes in pieces, and its signature with the last.
func join(parts []utp.Part, p utp.Part) []utp.Part {
	n := len(parts) - 1
	now, ok := p.(utp.Think)
	if n < 0 || !ok {
		return append(parts, p)
	}
	before, ok := parts[n].(utp.Think)
	if !ok || before.Signature != "" || before.Provider != provider || len(before.Extra) > 0 {
		return append(parts, p)
	}
	now.Text = before.Text + now.Text
	parts[n] = now
	return parts
}

// spoken adds a reply of the model. A client that read a stream sends it back in
// the pieces in which it came, each a part or a content of its own, with an
// empty text from the last chunk.
func (r *reading) spoken(m utp.Message) {
	if last := len(r.out.Messages) - 1; last >= 0 && r.out.Messages[last].Role == utp.RoleAssistant && len(r.out.Messages[last].Extra)+len(m.Extra) == 0 {
		m.Parts = append(r.out.Messages[last].Parts, m.Parts...)
		r.out.Messages = r.out.Messages[:last]
	}
	m.Parts = joined(m.Parts)
	r.out.Messages = append(r.out.Messages, m)
}

// joined makes one text of neighbours.
func joined(parts []utp.Part) (out []utp.Part) {
	for _, p := range parts {
		now, plain := p.(utp.Text)
		if plain = plain && len(now.Extra) == 0; plain && now.Text == "" {
			continue
		}
		if n := len(out) - 1; n >= 0 && plain {
			if before, ok := out[n].(utp.Text); ok && len(before.Extra) == 0 {
				out[n] = utp.Text{Text: before.Text + now.Text}
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

func (r *reading) part(v shape.Value) (utp.Part, *shape.Error) {
	p, err := readPart.Read(v)
	if err != nil {
		return nil, err
	}
	rest := p.Rest
	if p.Signature != "" && !p.Thought {
		rest = append(rest, shape.Field{Name: signature, Value: shape.Quote(p.Signature).Raw})
	}
	if p.Call != nil && len(p.Call.Rest) > 0 {
		rest = rest.With(inCall, shape.Value{Raw: p.Call.Rest.Raw()})
	}
	if p.Response != nil && len(p.Response.Rest) > 0 {
		rest = rest.With(inResponse, shape.Value{Raw: p.Response.Rest.Raw()})
	}
	extra := codec.PackExtra(provider, rest)
	switch {
	case p.Call != nil:
		return r.call(p.Call, extra), nil
	case p.Response != nil:
		return r.response(p.Response, extra)
	case p.Thought:
		return think(&p), nil
	case p.Text != nil:
		return utp.Text{Text: *p.Text, Extra: extra}, nil
	case p.Inline != nil:
		return inline(p.Inline, extra, v)
	case p.File != nil:
		return utp.Blob{MIME: p.File.MIME, URL: p.File.URI, Name: p.File.Name, Extra: extra}, nil
	}
	if p.Signature != "" && len(p.Rest) == 0 {
		return utp.Text{Extra: extra}, nil
	}
	return utp.Unknown{Provider: provider, Raw: v.Raw}, nil
}

func inline(b *blobJSON, extra json.RawMessage, v shape.Value) (utp.Part, *shape.Error) {
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		if data, err = base64.URLEncoding.DecodeString(b.Data); err != nil {
			return nil, &shape.Error{Path: "inlineData.data", Offset: v.Offset, Want: fmt.Sprintf("base64 (%v)", err)}
		}
	}
	return utp.Blob{MIME: b.MIME, Data: data, Name: b.Name, Extra: extra}, nil
}

// think reads reasoning, of which Google's Go SDK leaves an empty text out. A
// signature that this package sealed names another origin.
func think(p *partJSON) utp.Part {
	t, sealed := codec.Unseal(p.Signature)
	if !sealed {
		t = utp.Think{Signature: p.Signature, Provider: provider, Extra: codec.PackExtra(provider, p.Rest)}
	}
	if p.Text != nil {
		t.Text = *p.Text
	}
	return t
}

func (r *reading) call(j *callJSON, extra json.RawMessage) utp.Part {
	c := utp.Call{ID: codec.OriginID(j.ID), Name: j.Name, Source: utp.SourceNative, Extra: extra, Args: j.Args}
	switch {
	case len(j.Args) == 0:
		c.Args = json.RawMessage("{}")
	case !shape.IsObject(j.Args):
		c.Args, c.RawArgs = nil, string(j.Args)
	}
	return c
}

// response reads a result: the text under "result", "output" or "error", that of
// {"name", "content"}, which the AI SDK writes, or any other object as JSON.
func (r *reading) response(j *responseJSON, extra json.RawMessage) (utp.Part, *shape.Error) {
	out := utp.Result{CallID: codec.OriginID(j.ID), Name: j.Name, Status: utp.StatusOK, Extra: extra}
	text := string(j.Response)
	fields, err := shape.Members(shape.Value{Raw: j.Response})
	if err == nil && len(fields) == 1 {
		value := shape.Value{Raw: fields[0].Value}
		switch fields[0].Name {
		case "result", "output":
			if value.Kind() == '"' {
				text = value.String()
			}
		case "error":
			out.Status = utp.StatusFailed
			if value.Kind() == '"' {
				text = value.String()
			}
		}
	}
	if name, content := fields.Text("name"), (shape.Value{Raw: fields.Get("content")}); len(fields) == 2 && name == j.Name && content.Kind() == '"' {
		text = content.String()
	}
	out.Parts = []utp.Part{utp.Text{Text: text}}
	files, bad := r.parts(j.Parts)
	out.Parts = append(out.Parts, files...)
	return out, shape.Inside(bad, "functionResponse", -1)
}

func (r *reading) tools() *shape.Error {
	var names codec.ToolNames
	for i, v := range r.in.Tools {
		t, err := readTool.Read(v)
		if err != nil {
			return shape.Inside(err, "tools", i)
		}
		for k, v := range t.Functions {
			f, err := readFunction.Read(v)
			if err == nil {
				err = names.Add(f.Name, v)
			}
			if err != nil {
				return shape.Inside(shape.Inside(err, "functionDeclarations", k), "tools", i)
			}
			r.out.Tools = append(r.out.Tools, tool(f))
		}
		for _, own := range t.Rest {
			if err := names.Add(own.Name, v); err != nil {
				return shape.Inside(err, "tools", i)
			}
			r.out.Tools = append(r.out.Tools, utp.Tool{Name: own.Name, Kind: utp.HostedTool, Extra: codec.PackExtra(provider, shape.Fields{own})})
		}
	}
	return nil
}

func tool(f functionJSON) utp.Tool {
	out, rest := utp.Tool{Name: f.Name, Description: f.Description}, f.Rest
	switch {
	case len(f.JSONSchema) > 0:
		out.Schema = f.JSONSchema
		rest = codec.Marked(rest, codec.Mark(asJSONSchema))
	case len(f.Parameters) > 0:
		out.Schema = dialect.FromOpenAPI(f.Parameters)
		rest = codec.Marked(rest, shape.Field{Name: "parameters", Value: f.Parameters})
	}
	out.Extra = codec.PackExtra(provider, rest)
	return out
}

func (r *reading) config() *shape.Error {
	if r.in.ToolConfig.IsZero() {
		return nil
	}
	c, err := readConfig.Read(r.in.ToolConfig)
	r.out.Choice = chosen(c.Calling)
	if err == nil {
		err = shape.Inside(codec.Offered(r.out.Choice, r.out.Tools), "functionCallingConfig.allowedFunctionNames", -1)
	}
	return shape.Inside(err, "toolConfig", -1)
}

func (r *reading) generation() *shape.Error {
	if r.in.Generation.IsZero() {
		return nil
	}
	g, err := readGeneration.Read(r.in.Generation)
	if err != nil {
		return shape.Inside(err, "generationConfig", -1)
	}
	r.out.Params = utp.Params{MaxTokens: g.MaxTokens, Temperature: g.Temperature, TopP: g.TopP, TopK: g.TopK, Seed: g.Seed, Stop: g.Stop,
		Presence: g.Presence, Frequency: g.Frequency, Effort: effort(g.Thinking), Schema: schemaOf(g)}
	r.out.Params.SchemaHeld = codec.HeldAnyway(r.out.Params.Schema)
	return nil
}
