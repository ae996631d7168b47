package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
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

	spaces    []string // namespaces written
	group     toolJSON // the last of them
	lastSpace int      // behind its place in out.Tools
}

// Open writes the request.
func (Back) Open(r *utp.Request) (*wire.Exchange, error) {
	w, err := write(r)
	if err != nil {
		return nil, err
	}
	return w.exchange(path, answer{names: w.names, members: w.members, back: w.back, model: r.Model})
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
	return w.exchange(countPath, nil)
}

// ReadCount reads the answer to Count, in tokens.
func ReadCount(body []byte) (int, error) {
	var j countJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return 0, fmt.Errorf("responses: count of tokens: %w", err)
	}
	return j.Input, nil
}

func (w *writing) exchange(path string, a wire.Answer) (*wire.Exchange, error) {
	body, err := shape.MarshalWith(w.out, w.out.Rest)
	if err != nil {
		return nil, err
	}
	return &wire.Exchange{Path: path, Header: map[string]string{"Content-Type": "application/json"},
		Body: body, Losses: w.Losses, Framing: wire.SSE, Answer: a}, nil
}

func write(r *utp.Request) (*writing, error) {
	names, err := codec.NewNames(r.Tools, maxName)
	if err != nil {
		return nil, err
	}
	w := &writing{in: r, names: names, members: members(r.Tools), back: map[string]*dialect.Coercion{}, custom: map[string]bool{},
		Outgoing: codec.Outgoing{Provider: provider}}
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
	own := w.Own("", w.in.Extra)
	w.own = own
	w.out.Rest = own.Without("reasoning", "text", "user", "safety_identifier", "tool_choice", "store", "include")
	no := false
	w.out.Store = &no
	_ = json.Unmarshal(own.Get("store"), &w.out.Store)
	_ = json.Unmarshal(own.Get("include"), &w.out.Include)
	if !*w.out.Store && !slices.Contains(w.out.Include, encrypted) {
		w.out.Include = append(w.out.Include, encrypted)
	}
}

// reasoners are the models that refuse temperature and top_p while they reason.
// Source: OpenAI, "Reasoning models", unsupported parameters.
var reasoners = regexp.MustCompile(`^(o\d|gpt-5)`)

func (w *writing) params() {
	p, o := w.in.Params, &w.out
	o.MaxTokens, o.Temperature, o.TopP = p.MaxTokens, p.Temperature, p.TopP
	if reasoners.MatchString(w.in.Model) && p.Effort != "none" {
		o.Temperature, o.TopP = nil, nil
		w.Refuse("reasoning models refuse it", codec.Param{Name: "temperature", Given: p.Temperature != nil}, codec.Param{Name: "top_p", Given: p.TopP != nil})
	}
	w.Refuse("the Responses API has no such setting", codec.Param{Name: "top_k", Given: p.TopK != nil}, codec.Param{Name: "seed", Given: p.Seed != nil},
		codec.Param{Name: "stop", Given: len(p.Stop) > 0}, codec.Param{Name: "context", Given: p.Context != nil})
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
	schema := w.in.Params.Schema
	said := shape.Value{Raw: w.own.Get("text")}
	if t, err := readFormat.Read(said); err == nil && bytes.Equal(schemaOf(t.Format), schema) {
		w.out.Text = said
		return
	}
	off := false
	switch {
	case len(schema) == 0:
	case string(schema) == "{}":
		w.out.Text = shape.JSON(textJSON{Format: &formatJSON{Type: "json_object"}}, nil)
	default:
		w.out.Text = shape.JSON(textJSON{Format: &formatJSON{Type: "json_schema", Name: "reply", Schema: schema, Strict: &off}}, nil)
	}
}
