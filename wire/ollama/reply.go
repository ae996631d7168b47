package ollama

import (
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

func (a answer) reader(newID func() string) wire.Reader {
	r := &reader{Incoming: codec.NewIncoming(provider, a.model, a.names, newID)}
	r.One, r.Frame = a.one, r.line
	return r
}

type reader struct {
	codec.Incoming
	in    replyJSON // what was read last
	delta looseMessage
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
	said, thought := codec.ReadContent(d.Content), codec.ReadContent(d.Thinking).Text
	if thought == "" {
		thought = said.Think
	}
	r.Think(thought, utp.Think{})
	r.Text(said.Text)
	for _, v := range d.Images {
		if b, err := blob(v); err == nil {
			r.Part(b)
		}
	}
	list := codec.Listed(d.ToolCalls)
	for _, v := range list {
		r.call(v)
	}
	if keep {
		r.Keep(d.Rest)
	}
	return len(list) > 0
}

func (r *reader) call(v shape.Value) {
	f, rest := codec.ReadWholeCall(v)
	f.Extra = codec.PackExtra(provider, rest)
	r.Call(f)
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
	r.About = about
	r.Finish()
}
