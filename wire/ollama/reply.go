package ollama

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// stops maps done_reason; "load" and "unload" answer requests without messages.
var stops = map[shape.Loose]utp.Stop{
	"": utp.StopEnd, "stop": utp.StopEnd, "length": utp.StopLength, "load": utp.StopEnd, "unload": utp.StopEnd,
}

type answer struct {
	names *codec.Names
	model string
	one   bool
}

// Read reads a whole reply. An error body is an *wire.Error.
func (a answer) Read(body []byte, newID func() string) (utp.Reply, error) {
	return codec.ReadWhole(a.Reader(newID), body)
}

// Reader reads a streamed reply, or a whole one as a single frame.
func (a answer) Reader(newID func() string) wire.Reader {
	r := &reader{Incoming: codec.NewIncoming(provider, a.model, a.names, newID)}
	r.One = a.one
	return r
}

type reader struct {
	codec.Incoming
	in    replyJSON // what was read last
	delta looseMessage
}

func (r *reader) Feed(f wire.Frame) []utp.Event {
	if !r.Over {
		r.line(f.Data)
	}
	return r.Take()
}

func (r *reader) Close() []utp.Event {
	r.Fail(wire.ErrCut)
	return r.Take()
}

func (r *reader) line(data []byte) {
	j := &r.in
	if err := ofReply.Into(j, shape.Value{Raw: data}); err != nil {
		r.Foreign(data, err)
		return
	}
	if !j.Error.IsZero() {
		r.Fail(wire.ReadError(0, data))
		return
	}
	if j.Model != "" {
		r.End.Model = string(j.Model)
	}
	switch {
	case !j.Message.IsZero():
		r.message(j.Message, true)
	case j.Response != nil:
		r.Think(string(j.Thinking), utp.Think{})
		r.Text(string(*j.Response))
	case r.message(shape.Value{Raw: data}, false): // a bare message, which may be all there is
		j.Done = true
	}
	if j.Done {
		r.finish(j)
	}
}

// message reads a message, in which every call is whole, and keeps what only this
// API says in it. It reports whether there were calls.
func (r *reader) message(v shape.Value, keep bool) (calls bool) {
	d := &r.delta
	if ofDelta.Into(d, v) != nil {
		return false
	}
	m := codec.ChatMessage{Content: content(d.Content), Thinking: content(d.Thinking)}
	if text, _ := m.Reason(); text != "" {
		r.Think(text, utp.Think{})
	}
	r.Text(m.Content.Text)
	for _, v := range d.Images {
		if b, err := blob(v); err == nil {
			r.Part(b)
		}
	}
	list := listed(d.ToolCalls)
	for _, v := range list {
		r.call(v)
	}
	if keep {
		r.Keep(d.Rest)
	}
	return len(list) > 0
}

func (r *reader) call(v shape.Value) {
	m := codec.ChatMessage{ToolCalls: []json.RawMessage{v.Raw}}
	for _, f := range m.Fragments(true) {
		if c, err := ofLooseCall.Read(v); err == nil && f.ID != "" {
			f.Extra = codec.PackExtra(provider, c.Rest)
		}
		r.Call(f)
	}
}

// content is a text that may be null or a list of parts.
func content(v shape.Value) (c codec.ChatContent) {
	switch v.Kind() {
	case 0:
		return c
	case '"':
		return codec.ChatContent{Text: v.String()}
	}
	_ = c.UnmarshalJSON(v.Raw)
	return c
}

// listed is a list that servers also send as its only element.
func listed(v shape.Value) []shape.Value {
	if v.Kind() == '{' {
		return []shape.Value{v}
	}
	list, err := v.Elements()
	if err != nil {
		return nil
	}
	return list
}

func (r *reader) finish(j *replyJSON) {
	stop, known := stops[j.Reason]
	if !known {
		stop = utp.StopEnd
	}
	r.End.Stop = stop
	r.End.Usage = utp.Usage{Input: int(j.Prompt), Output: int(j.Eval)}
	about := j.Rest
	for _, d := range durations(j) {
		if *d.at > 0 {
			about = about.Set(d.name, shape.JSON(*d.at, nil).Raw)
		}
	}
	r.End.Extra = codec.PackExtra(provider, about)
	r.Finish()
}
