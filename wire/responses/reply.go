package responses

import (
	"cmp"
	"encoding/json"
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

func (a answer) reader(newID func() string) wire.Reader {
	r := &reader{answer: a, Incoming: codec.NewIncoming(provider, a.model, a.names, newID), items: map[key]*item{}, places: map[int]*item{}}
	r.Frame = r.event
	return r
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

// key tells items apart: by their ids, or where they have none by their places.
type key struct {
	id    string
	index int
}

type reader struct {
	answer
	codec.Incoming
	in      eventJSON
	items   map[key]*item // that have begun
	places  map[int]*item // the last of each place
	refused bool
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
		r.done(r.find(e, false), e.Item)
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

// find is the item that an event belongs to: by its id, or where there is none, or
// another with every event, by its place. begins is that of an item that begins.
func (r *reader) find(e *eventJSON, begins bool) *item {
	at := key{string(e.ItemID), -1}
	if at.id == "" && !e.Item.IsZero() {
		at.id, _ = e.Item.TextAt("id")
	}
	if at.id == "" && e.Index != nil {
		at.index = *e.Index
	}
	it := r.items[at]
	if it == nil && !begins && e.Index != nil && r.places[*e.Index] != nil && !r.places[*e.Index].done {
		it = r.places[*e.Index]
	}
	if it == nil {
		it = &item{index: len(r.items)}
	}
	if r.items[at] = it; e.Index != nil {
		r.places[*e.Index] = it
	}
	return it
}

// open begins an item. A call begins here; of the others the deltas tell.
func (r *reader) open(e *eventJSON) {
	it := r.find(e, true)
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
	rest := c.Rest.WithText("id", c.ID).WithText("status", ended(c.Status))
	name := c.Name
	if c.Namespace != "" {
		name = r.names.Out(r.own(c))
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
	it, delta := r.find(e, false), string(e.Delta)
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
		r.Call(codec.Fragment{Index: it.index, Args: shape.Inner(delta)})
	}
	it.some = true
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
	if m, err := readMessage.Read(v); err == nil && !it.some {
		for _, p := range codec.Listed(m.Content) {
			part, _ := readPart.Read(p)
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

// closeCall ends a call.
func (r *reader) closeCall(it *item, v shape.Value) {
	c, err := readCall.Read(v)
	if err != nil {
		return
	}
	switch {
	case it.kind == "custom_tool_call":
		rest := `"}`
		if c.Input != nil && !it.some {
			rest = shape.Inner(*c.Input) + rest
		}
		r.Call(codec.Fragment{Index: it.index, Args: rest})
	case c.Arguments != nil && !it.some:
		args := *c.Arguments
		if shape.IsObject([]byte(args)) {
			args = string(r.back[r.own(c)].Apply(json.RawMessage(args)))
		}
		r.Call(codec.Fragment{Index: it.index, Args: args})
	}
	r.Complete(it.index, c.Status == "incomplete")
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
		if len(r.items) > 0 && r.streamed(i, v) {
			continue
		}
		r.done(r.find(&eventJSON{Index: &i, Item: v}, false), v)
	}
	if u, err := readUsage.Read(j.Usage); err == nil {
		r.End.Usage = u.usage()
	}
	r.stop(&j, v)
}

// streamed reports an item that the events before have told.
func (r *reader) streamed(i int, v shape.Value) bool {
	id, _ := v.TextAt("id")
	it := r.items[key{id, -1}]
	if id == "" || it == nil {
		it = r.places[i]
	}
	if it != nil {
		return it.done
	}
	return i < len(r.items)
}

func (r *reader) stop(j *replyJSON, v shape.Value) {
	why, _ := readIncomplete.Read(j.Incomplete)
	switch {
	case j.Status == "failed", j.Status == "cancelled", j.Status == "" && j.Error.Kind() == '{':
		e := wire.ReadError(0, v.Raw)
		e.Message = cmp.Or(e.Message, "the response was "+string(j.Status))
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

var (
	readReply      = shape.Of[replyJSON]()
	readIncomplete = shape.Of[incompleteJSON]()
	readUsage      = shape.Of[usageJSON]()
	readEvent      = shape.Of[eventJSON]()
)

// replyJSON is a response, as it is read.
type replyJSON struct {
	ID         shape.Loose   `json:"id"`
	Object     shape.Loose   `json:"object"`
	Model      shape.Loose   `json:"model"`
	Status     shape.Loose   `json:"status"`
	Output     []shape.Value `json:"output"`
	Usage      shape.Value   `json:"usage"`
	Error      shape.Value   `json:"error"`
	Incomplete shape.Value   `json:"incomplete_details"`
}

// eventJSON is any event of a stream, or a whole response.
type eventJSON struct {
	Type     shape.Loose `json:"type"`
	Object   shape.Loose `json:"object"`
	Response shape.Value `json:"response"`
	Index    *int        `json:"output_index"`
	ItemID   shape.Loose `json:"item_id"`
	Item     shape.Value `json:"item"`
	Delta    shape.Loose `json:"delta"`
	Summary  *int        `json:"summary_index"`
	Error    shape.Value `json:"error"`
}
