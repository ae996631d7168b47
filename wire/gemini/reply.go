package gemini

import (
	"encoding/base64"
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/dialect"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

type answer struct {
	names *codec.Names
	back  map[string]*dialect.Coercion
	model string
	one   bool // later calls are dropped
}

func (a answer) reader(newID func() string) wire.Reader {
	r := &reader{answer: a, Incoming: codec.NewIncoming(provider, a.model, a.names, newID)}
	r.One, r.Frame = a.one, r.frame
	return r
}

type reader struct {
	answer
	codec.Incoming
	in      replyJSON
	piece   partJSON
	stopped bool // a finishReason was seen
}

// Close takes a stream whose last chunk has a finishReason for whole: counts may
// follow it.
func (r *reader) Close() []utp.Event {
	if r.stopped {
		r.Finish()
	}
	r.Fail(wire.ErrCut)
	return r.Take()
}

func (r *reader) frame(data []byte) {
	v := shape.Value{Raw: data}
	if v.Kind() != '[' {
		r.chunk(v)
		return
	}
	list, err := v.Elements()
	if err != nil {
		r.Foreign(v.Raw, err)
	}
	for _, v := range list {
		r.chunk(v)
	}
}

func (r *reader) chunk(v shape.Value) {
	j := &r.in
	if err := readReply.Into(j, v); err != nil {
		r.Foreign(v.Raw, err)
		return
	}
	if !j.Error.IsZero() {
		e := wire.ReadError(0, v.Raw)
		e.RetryAfter = wire.RetryDelay(v.Raw)
		r.Fail(e)
		return
	}
	if j.Candidates == nil && j.Feedback == nil && j.Usage == nil {
		r.Foreign(v.Raw, &shape.Error{Offset: -1, Want: "candidates"})
		return
	}
	r.note(j)
	for i := range j.Candidates {
		if j.Candidates[i].Index == 0 {
			r.candidate(&j.Candidates[i])
		}
	}
}

// note keeps what stands beside the candidates.
func (r *reader) note(j *replyJSON) {
	if j.Model != "" {
		r.End.Model = string(j.Model)
	}
	if j.ID != "" {
		r.End.ID = string(j.ID)
	}
	if j.Usage != nil {
		r.End.Usage = j.Usage.usage()
	}
	if j.Feedback != nil && j.Feedback.Reason != "" {
		r.stop(utp.StopFilter, string(j.Feedback.Reason), string(j.Feedback.Message))
	}
}

func (r *reader) candidate(c *candidateJSON) {
	if c.Content != nil {
		for _, v := range c.Content.Parts {
			r.part(v)
		}
	}
	if c.Reason == "" || c.Reason == "FINISH_REASON_UNSPECIFIED" {
		return
	}
	r.Keep(c.Rest.Without("safetyRatings", "tokenCount", "avgLogprobs"))
	stop, known := stops[string(c.Reason)]
	if !known {
		stop = utp.StopEnd
	}
	r.stop(stop, string(c.Reason), string(c.Message))
}

func (r *reader) stop(stop utp.Stop, reason, message string) {
	r.stopped, r.End.Stop = true, stop
	if reason == "STOP" || reason == "MAX_TOKENS" {
		return
	}
	r.About = r.About.WithText("finishReason", reason).WithText("finishMessage", message)
}

func (r *reader) part(v shape.Value) {
	p := &r.piece
	if readPart.Into(p, v) != nil {
		return
	}
	switch {
	case p.Call != nil:
		r.call(p)
	case p.Text != nil && p.Thought:
		about := r.Signed(p.Signature)
		r.Think(*p.Text, about)
		if p.Signature != "" {
			r.Sign(about)
		}
	case p.Text != nil:
		r.Text(*p.Text)
		if p.Signature != "" {
			r.Part(utp.Text{Extra: signed(p.Signature)})
		}
	case p.Inline != nil:
		r.inline(p, v)
	case p.File == nil && p.Response == nil && len(p.Rest) == 0: // it holds nothing
		if p.Signature != "" {
			r.Part(utp.Text{Extra: signed(p.Signature)})
		}
	default:
		r.Part(utp.Unknown{Provider: provider, Raw: v.Raw})
	}
}

// signed is the Extra of a part with a signature.
func signed(s string) json.RawMessage {
	return codec.PackExtra(provider, shape.Fields{{Name: signature, Value: shape.Quote(s).Raw}})
}

func (r *reader) inline(p *partJSON, v shape.Value) {
	data, err := base64.StdEncoding.DecodeString(p.Inline.Data)
	if err != nil {
		r.Part(utp.Unknown{Provider: provider, Raw: v.Raw})
		return
	}
	b := utp.Blob{MIME: p.Inline.MIME, Data: data, Name: p.Inline.Name}
	if p.Signature != "" {
		b.Extra = signed(p.Signature)
	}
	r.Part(b)
}

// call reads a call, which is always whole. Its signature goes with it.
func (r *reader) call(p *partJSON) {
	args := r.back[r.names.In(p.Call.Name)].Apply(p.Call.Args)
	f := codec.Fragment{Index: -1, ID: p.Call.ID, Name: p.Call.Name, Args: string(args), Whole: true}
	rest := p.Rest.WithText(signature, p.Signature)
	if len(p.Call.Rest) > 0 {
		rest = rest.With(inCall, shape.Value{Raw: p.Call.Rest.Raw()})
	}
	f.Extra = codec.PackExtra(provider, rest)
	r.Call(f)
}
