package responses

import (
	"encoding/json"
	"iter"
	"maps"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

type answer struct {
	names   *codec.Names
	members map[string]member
	back    map[string]*dialect.Coercion
	model   string
}

// Read reads a whole reply. An error body is an *wire.Error.
func (a answer) Read(body []byte, newID func() string) (utp.Reply, error) {
	return codec.ReadWhole(a.Reader(newID), body)
}

// Reader reads a streamed reply, or a whole one as a single frame.
func (a answer) Reader(newID func() string) wire.Reader {
	return &reader{answer: a, Incoming: codec.NewIncoming(provider, a.model, a.names, newID), items: map[string]*item{}, places: map[int]*item{}}
}

// item is an output item that has begun.
type item struct {
	kind    string
	index   int  // among the items, for the calls
	some    bool // a delta came
	summary int  // of the last delta
	hold    bool // arguments that are changed when they are complete
	done    bool
}

type reader struct {
	answer
	codec.Incoming
	in      eventJSON
	items   map[string]*item // by id
	places  map[int]*item    // those without one
	count   int
	refused bool
}

func (r *reader) Feed(f wire.Frame) []utp.Event {
	if !r.Over && len(f.Data) > 0 && !f.Done() {
		r.event(f.Data)
	}
	return r.Take()
}

func (r *reader) Close() []utp.Event {
	r.Fail(wire.ErrCut)
	return r.Take()
}

func (r *reader) event(data []byte) {
	v, e := shape.Value{Raw: data}, &r.in
	if err := readEvent.Into(e, v); err != nil {
		r.Foreign(data, err)
		return
	}
	name, _ := strings.CutPrefix(string(e.Type), "response.")
	switch name {
	case "created", "in_progress", "queued":
		r.begin(e.Response)
	case "output_item.added":
		r.open(e)
	case "output_item.done":
		r.done(r.find(e), e.Item)
	case "completed", "incomplete", "failed", "cancelled":
		r.whole(e.Response)
	case "error":
		r.Fail(wire.ReadError(0, data))
	case "":
		r.bare(e, v)
	default:
		r.delta(name, e)
	}
}

// bare reads an object without a type: a whole response, or an error.
func (r *reader) bare(e *eventJSON, v shape.Value) {
	switch {
	case e.Object == "response":
		r.whole(v)
	case !e.Error.IsZero():
		r.Fail(wire.ReadError(0, v.Raw))
	default:
		r.Foreign(v.Raw, &shape.Error{Offset: -1, Want: "a type"})
	}
}

func (r *reader) begin(v shape.Value) {
	if j, err := readReply.Read(v); err == nil {
		r.End.ID, r.End.Model = string(j.ID), string(j.Model)
	}
}

// find is the item that an event belongs to: by its id, or where there is none
// by its place.
func (r *reader) find(e *eventJSON) *item {
	id := string(e.ItemID)
	if id == "" && !e.Item.IsZero() {
		call, _ := readCall.Read(e.Item)
		id = call.ID
	}
	place := -1
	if e.Index != nil {
		place = *e.Index
	}
	it := r.items[id]
	if id == "" {
		it = r.places[place]
	}
	if it == nil {
		it = &item{index: r.count}
		r.count++
		if id != "" {
			r.items[id] = it
		} else {
			r.places[place] = it
		}
	}
	return it
}

// open begins an item. A call begins here; of the others the deltas tell.
func (r *reader) open(e *eventJSON) {
	it := r.find(e)
	head, err := readHead.Read(e.Item)
	if err != nil || it.kind != "" {
		return
	}
	it.kind = string(head.Type)
	if it.isCall() {
		r.openCall(it, e.Item)
	}
}

func (it *item) isCall() bool { return it.kind == "function_call" || it.kind == "custom_tool_call" }

func (r *reader) openCall(it *item, v shape.Value) {
	c, err := readCall.Read(v)
	if err != nil {
		return
	}
	rest := c.Rest
	for _, f := range []struct{ name, value string }{{"id", c.ID}, {"status", ended(c.Status)}} {
		if f.value != "" {
			rest = rest.Set(f.name, shape.Quote(f.value).Raw)
		}
	}
	name := c.Name
	for full, m := range r.members {
		if c.Namespace != "" && m == (member{c.Namespace, c.Name}) {
			name = r.names.Out(full)
		}
	}
	it.hold = r.back[r.names.In(name)] != nil
	r.Call(codec.Fragment{Index: it.index, ID: c.CallID, Name: name, Extra: codec.PackExtra(provider, rest)})
	if it.kind == "custom_tool_call" {
		r.Call(codec.Fragment{Index: it.index, Args: `{"input":"`})
	}
}

// ended is the status of a call that is over.
func ended(status string) string {
	if status == "in_progress" {
		return "completed"
	}
	return status
}

func (r *reader) delta(name string, e *eventJSON) {
	kind, isDelta := strings.CutSuffix(name, ".delta")
	if !isDelta || e.Delta == "" {
		return
	}
	it, delta := r.find(e), string(e.Delta)
	switch kind {
	case "output_text", "refusal":
		r.refused = r.refused || kind == "refusal"
		r.Text(delta)
	case "reasoning_summary_text", "reasoning_text", "reasoning_summary":
		if e.Summary != nil && *e.Summary != it.summary {
			it.summary = *e.Summary
			delta = "\n\n" + delta
		}
		r.Think(delta, r.Signed(""))
	case "function_call_arguments":
		if it.hold {
			return // they come again, whole
		}
		r.Call(codec.Fragment{Index: it.index, Args: delta})
	case "custom_tool_call_input":
		r.Call(codec.Fragment{Index: it.index, Args: inside(delta)})
	}
	it.some = true
}

// inside is a text as it stands inside a JSON string.
func inside(s string) string {
	b := shape.Quote(s).Raw
	return string(b[1 : len(b)-1])
}

// done reads a complete item: all of it if no delta came.
func (r *reader) done(it *item, v shape.Value) {
	head, err := readHead.Read(v)
	if err != nil || it.done {
		return
	}
	it.done = true
	if it.kind == "" {
		if it.kind = string(head.Type); it.isCall() {
			r.openCall(it, v)
		}
	}
	switch it.kind {
	case "message":
		r.message(it, v)
	case "reasoning":
		r.thought(it, v)
	case "function_call", "custom_tool_call":
		r.closeCall(it, v)
	default:
		r.Part(utp.Unknown{Provider: provider, Raw: v.Raw})
	}
}

func (r *reader) message(it *item, v shape.Value) {
	m, err := readMessage.Read(v)
	if err == nil && !it.some {
		parts, _ := m.Content.Elements()
		for _, p := range parts {
			part, err := readPart.Read(p)
			if err != nil {
				continue
			}
			r.refused = r.refused || part.Type == "refusal"
			r.Text(part.Text + part.Refusal)
		}
	}
	r.EndPart()
}

func (r *reader) thought(it *item, v shape.Value) {
	t, err := readThought.Read(v)
	if err != nil {
		r.EndPart()
		return
	}
	about := r.Signed(t.Encrypted)
	about.ItemID = t.ID
	words, open := reasoningText(t)
	if open {
		about.Extra = codec.PackExtra(provider, shape.Fields{{Name: inContent, Value: []byte("true")}})
	}
	if !it.some {
		r.Think(words, about)
	}
	if t.Encrypted != "" || words != "" || it.some {
		r.Sign(about)
	}
	r.EndPart()
}

// closeCall ends a call, unless another is open too.
func (r *reader) closeCall(it *item, v shape.Value) {
	c, err := readCall.Read(v)
	if err != nil {
		return
	}
	switch {
	case it.kind == "custom_tool_call":
		rest := `"}`
		if c.Input != nil && !it.some {
			rest = inside(*c.Input) + rest
		}
		r.Call(codec.Fragment{Index: it.index, Args: rest})
	case c.Arguments != nil && !it.some:
		args := *c.Arguments
		if shape.IsObject([]byte(args)) {
			args = string(r.back[r.own(c)].Apply(json.RawMessage(args)))
		}
		r.Call(codec.Fragment{Index: it.index, Args: args})
	}
	for _, items := range []iter.Seq[*item]{maps.Values(r.items), maps.Values(r.places)} {
		for other := range items {
			if other.isCall() && !other.done {
				return
			}
		}
	}
	r.EndCalls(c.Status == "incomplete")
}

// own is the tool's own name.
func (r *reader) own(c callItem) string {
	for full, m := range r.members {
		if m == (member{c.Namespace, c.Name}) {
			return full
		}
	}
	return r.names.In(c.Name)
}

// whole reads a response that is over. What its items say came before in a
// stream.
func (r *reader) whole(v shape.Value) {
	j, err := readReply.Read(v)
	if err != nil {
		r.Foreign(v.Raw, err)
		return
	}
	r.begin(v)
	for i, v := range j.Output {
		if r.count > 0 && r.streamed(i, v) {
			continue
		}
		r.done(r.find(&eventJSON{Index: &i, Item: v}), v)
	}
	if u, err := readUsage.Read(j.Usage); err == nil {
		r.End.Usage = u.usage()
	}
	r.stop(&j, v)
}

// streamed reports an item that the events before have told.
func (r *reader) streamed(i int, v shape.Value) bool {
	if c, err := readCall.Read(v); err == nil && c.ID != "" {
		if it := r.items[c.ID]; it != nil {
			return it.done
		}
	}
	it := r.places[i]
	return it != nil && it.done || i < r.count
}

func (r *reader) stop(j *replyJSON, v shape.Value) {
	why, _ := readIncomplete.Read(j.Incomplete)
	switch {
	case j.Status == "failed", j.Status == "cancelled", j.Status == "" && j.Error.Kind() == '{':
		e := wire.ReadError(0, v.Raw)
		if e.Message == "" {
			e.Message = "the response was " + string(j.Status)
		}
		r.Fail(e)
		return
	case j.Status == "incomplete" && why.Reason == "content_filter", r.refused:
		r.End.Stop = utp.StopFilter
	case j.Status == "incomplete":
		r.End.Stop = utp.StopLength
	default:
		r.End.Stop = utp.StopEnd
	}
	r.Finish()
}
