package anthropic

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

type answer struct {
	names *codec.Names
	model string
}

func (a answer) reader(newID func() string) wire.Reader {
	r := &reader{Incoming: codec.NewIncoming(provider, a.model, a.names, newID), blocks: map[int]*block{}}
	r.Frame = r.event
	return r
}

// block is a block of the stream that has begun.
type block struct {
	kind      string
	head      json.RawMessage // as it began
	input     json.RawMessage // of a tool_use that began with one
	json      []byte          // of the deltas
	signature string
	rest      shape.Fields
}

type reader struct {
	codec.Incoming
	in      eventJSON
	piece   deltaJSON
	usage   usageJSON
	blocks  map[int]*block
	stopped bool // a stop_reason was seen
}

// Close takes a stream that gave its stop_reason and no message_stop for whole.
func (r *reader) Close() []utp.Event {
	switch {
	case r.Over:
	case r.stopped:
		r.finish()
	default:
		r.fail(wire.ErrCut)
	}
	return r.Take()
}

// settle ends the blocks that are open and sums up.
func (r *reader) settle() {
	for _, i := range slices.Sorted(maps.Keys(r.blocks)) {
		r.stopBlock(i)
	}
	r.End.Usage = r.usage.usage()
	if len(r.usage.Rest) > 0 {
		r.About = r.About.Set("usage", r.usage.Rest.Raw())
	}
}

func (r *reader) finish() {
	r.settle()
	r.Finish()
}

func (r *reader) fail(err error) {
	r.settle()
	r.Fail(err)
}

// count takes a usage: the numbers of a later one replace those before.
func (r *reader) count(v shape.Value) {
	u, err := readUsage.Read(v)
	if err != nil {
		return
	}
	for _, n := range []struct{ have, said *shape.LooseInt }{
		{&r.usage.Input, &u.Input}, {&r.usage.CacheRead, &u.CacheRead}, {&r.usage.CacheWrite, &u.CacheWrite}, {&r.usage.Output, &u.Output},
	} {
		if *n.said > 0 {
			*n.have = *n.said
		}
	}
	if u.How != nil {
		r.usage.How = u.How
	}
	for _, f := range u.Rest {
		r.usage.Rest = r.usage.Rest.Set(f.Name, f.Value)
	}
}

func (r *reader) event(data []byte) {
	v, e := shape.Value{Raw: data}, &r.in
	if err := readEvent.Into(e, v); err != nil {
		r.Foreign(data, err)
		return
	}
	index := -1
	if e.Index != nil {
		index = *e.Index
	}
	switch {
	case e.Type == "error", !e.Error.IsZero() && e.Type == "":
		r.fail(wire.ReadError(0, data))
	case e.Type == "message":
		r.whole(v)
	case e.Type == "message_start":
		r.start(e.Message)
	case e.Type == "content_block_start":
		r.startBlock(index, e.Block)
	case e.Type == "content_block_delta":
		r.delta(index, e.Delta)
	case e.Type == "content_block_stop":
		r.stopBlock(index)
	case e.Type == "message_delta":
		r.messageDelta(e)
	case e.Type == "message_stop":
		r.finish()
	case e.Type == "":
		r.Foreign(data, &shape.Error{Offset: -1, Want: "a type"})
	}
}

// whole reads a complete message.
func (r *reader) whole(v shape.Value) {
	m, err := readReply.Read(v)
	if err != nil {
		r.Foreign(v.Raw, err)
		return
	}
	r.start(v)
	for i, b := range m.Content {
		r.startBlock(i, shape.Value{Raw: b})
		r.stopBlock(i)
	}
	if m.Stop != nil {
		r.stop(*m.Stop, m.StopSeq)
	}
	r.finish()
}

func (r *reader) start(v shape.Value) {
	m, err := readReply.Read(v)
	if err != nil {
		return
	}
	r.End.ID, r.End.Model = string(m.ID), string(m.Model)
	r.Keep(m.Rest)
	r.count(m.Usage)
}

func (r *reader) startBlock(index int, v shape.Value) {
	head, err := readHead.Read(v)
	if err != nil {
		return
	}
	r.stopBlock(index)
	b := &block{kind: head.Type, head: v.Raw}
	r.blocks[index] = b
	switch head.Type {
	case "text":
		r.startText(b, v)
	case "thinking":
		if t, err := readThink.Read(v); err == nil {
			b.signature = t.Signature
			r.Think(t.Thinking, r.Signed(""))
		}
	case "redacted_thinking":
		if t, err := readRedacted.Read(v); err == nil {
			about := r.Signed(t.Data)
			about.Redacted = true
			r.Part(about)
		}
	case "tool_use":
		r.startCall(index, b, v)
	}
}

// startText gives a text that comes with more than itself in one piece.
func (r *reader) startText(b *block, v shape.Value) {
	t, err := readText.Read(v)
	if err != nil {
		return
	}
	b.rest = t.Rest.Without("citations")
	if c := t.Rest.Get("citations"); len(c) > len("[]") {
		b.rest = t.Rest
	}
	if len(b.rest) > 0 && t.Text != "" {
		r.Part(utp.Text{Text: t.Text, Extra: codec.PackExtra(provider, b.rest)})
		return
	}
	r.Text(t.Text)
}

func (r *reader) startCall(index int, b *block, v shape.Value) {
	t, err := readToolUse.Read(v)
	if err != nil {
		return
	}
	if len(t.Input) > len("{}") {
		b.input = t.Input
	}
	r.Call(codec.Fragment{Index: index, ID: t.ID, Name: t.Name, Extra: codec.PackExtra(provider, t.Rest)})
}

func (r *reader) delta(index int, v shape.Value) {
	d := &r.piece
	if readDelta.Into(d, v) != nil {
		return
	}
	b := r.blocks[index]
	if b == nil {
		b = new(block)
		r.blocks[index] = b
	}
	switch d.Type {
	case "text_delta":
		r.Text(string(d.Text))
	case "thinking_delta":
		r.Think(string(d.Thinking), r.Signed(""))
	case "signature_delta":
		b.signature += string(d.Signature)
	case "input_json_delta":
		b.json = append(b.json, d.JSON...)
		if b.kind == "tool_use" || b.kind == "" {
			r.Call(codec.Fragment{Index: index, Args: string(d.JSON)})
		}
	}
}

func (r *reader) stopBlock(index int) {
	b := r.blocks[index]
	if b == nil {
		return
	}
	delete(r.blocks, index)
	switch b.kind {
	case "text":
		r.EndPart()
	case "thinking":
		if b.signature != "" {
			r.Sign(r.Signed(b.signature))
		}
		r.EndPart()
	case "tool_use":
		r.stopCall(index, b)
	case "redacted_thinking", "":
	default:
		r.Part(utp.Unknown{Provider: provider, Raw: b.unknown()})
	}
}

// stopCall ends a call. Of one that is not complete the stop_reason tells whether
// it was cut.
func (r *reader) stopCall(index int, b *block) {
	switch {
	case len(b.json) > 0 && !json.Valid(b.json):
		return
	case len(b.json) == 0 && b.input != nil:
		r.Call(codec.Fragment{Index: index, Args: string(b.input)})
	}
	r.Complete(index, false)
}

// unknown is a block of another kind with the input that its deltas brought.
func (b *block) unknown() json.RawMessage {
	f, err := shape.Members(shape.Value{Raw: b.head})
	if err != nil || !shape.IsObject(b.json) {
		return b.head
	}
	return f.Set("input", b.json).Raw()
}

func (r *reader) messageDelta(e *eventJSON) {
	r.count(e.Usage)
	d := &r.piece
	if readDelta.Into(d, e.Delta) != nil {
		return
	}
	r.Keep(d.Rest)
	if d.Stop != "" {
		seq := string(d.StopSeq)
		r.stop(string(d.Stop), &seq)
	}
}

func (r *reader) stop(reason string, seq *string) {
	r.stopped = true
	stop, known := stops[reason]
	if !known {
		stop = utp.StopEnd
	}
	r.End.Stop = stop
	if seq != nil {
		r.End.StopSeq = *seq
	}
	if !known || reason == "model_context_window_exceeded" {
		r.About = r.About.WithText("stop_reason", reason)
	}
	r.EndCalls(stop == utp.StopLength)
}

// eventJSON is any event of a stream, or a whole reply.
type eventJSON struct {
	Type    shape.Loose `json:"type"`
	Message shape.Value `json:"message"`
	Index   *int        `json:"index"`
	Block   shape.Value `json:"content_block"`
	Delta   shape.Value `json:"delta"`
	Usage   shape.Value `json:"usage"`
	Error   shape.Value `json:"error"`
}

// deltaJSON is the delta of a block or of the message.
type deltaJSON struct {
	Type      shape.Loose  `json:"type"`
	Text      shape.Loose  `json:"text"`
	Thinking  shape.Loose  `json:"thinking"`
	Signature shape.Loose  `json:"signature"`
	JSON      shape.Loose  `json:"partial_json"`
	Stop      shape.Loose  `json:"stop_reason"`
	StopSeq   shape.Loose  `json:"stop_sequence"`
	Rest      shape.Fields `json:"-"`
}
