package codec

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Incoming is what the readers of replies have in common: the events that are
// built, the end that is noted on the way, and how it comes.
type Incoming struct {
	Builder
	Frame func(data []byte) // reads a frame that says something
	End   utp.End
	Extra shape.Fields // of the message, for the Finish
	About shape.Fields // what only the provider says of the end
	Over  bool         // the Finish is given; nothing more is read

	provider, model string
	err             error
}

// NewIncoming begins to read a reply of a provider's model.
func NewIncoming(provider, model string, names *Names, newID func() string) Incoming {
	return Incoming{provider: provider, model: model, Builder: Builder{Names: names, NewID: newID}}
}

// Feed takes a frame.
func (in *Incoming) Feed(f wire.Frame) []utp.Event {
	if !in.Over && len(f.Data) > 0 && !f.Done() {
		in.Frame(f.Data)
	}
	return in.Take()
}

// Close ends a reply that is not over: it was cut.
func (in *Incoming) Close() []utp.Event {
	in.Fail(wire.ErrCut)
	return in.Take()
}

// Signed is reasoning of the reply's model with its signature, which may be "".
func (in *Incoming) Signed(signature string) utp.Think {
	t := utp.Think{Signature: signature, Provider: in.provider, Model: in.End.Model}
	if t.Model == "" {
		t.Model = in.model
	}
	return t
}

// Err is why the reply is broken.
func (in *Incoming) Err() error { return in.err }

// Fail ends the reply with an error.
func (in *Incoming) Fail(err error) {
	if !in.Over {
		in.err, in.End.Stop = err, utp.StopError
		in.Finish()
	}
}

// Foreign ends the reply because data is nothing that the API sends.
func (in *Incoming) Foreign(data []byte, err error) {
	e := wire.ReadError(0, data)
	e.Type = wire.NotThisAPI
	e.Message = "the server sent something that is not of this API (" + in.provider + "): " + err.Error() + ": " + e.Body
	in.Fail(e)
}

// Finish ends the reply as End says.
func (in *Incoming) Finish() {
	if !in.Over {
		in.Over, in.End.Extra = true, PackExtra(in.provider, in.About)
		in.Builder.Finish(in.End, PackExtra(in.provider, in.Extra))
	}
}

// Keep keeps what only the provider understands of the message.
func (in *Incoming) Keep(fields shape.Fields) {
	for _, f := range fields {
		if string(f.Value) != "null" {
			in.Extra = in.Extra.Set(f.Name, f.Value)
		}
	}
}

// Answer is a wire.Answer: it makes readers that take a whole reply as one frame.
type Answer func(newID func() string) wire.Reader

var _ wire.Answer = Answer(nil)

// Reader reads a streamed reply, or a whole one as its only frame.
func (a Answer) Reader(newID func() string) wire.Reader { return a(newID) }

// Read reads a whole reply. An error body is an *wire.Error, and so is one that
// holds no reply.
func (a Answer) Read(body []byte, newID func() string) (utp.Reply, error) {
	r := a(newID)
	evs := append([]utp.Event(nil), r.Feed(wire.Frame{Data: body})...)
	evs = append(evs, r.Close()...)
	reply, err := utp.Collect(evs), r.Err()
	if errors.Is(err, wire.ErrCut) && len(reply.Parts) == 0 && json.Valid(body) {
		e := wire.ReadError(0, body)
		e.Type, e.Message = wire.NotThisAPI, "there is no reply in it: "+e.Body
		return reply, e
	}
	return reply, err
}

// ReadCount reads the answer to a question how many tokens a request has: the
// number in a field.
func ReadCount(provider string, body []byte, field string) (int, error) {
	var n shape.LooseInt
	all, err := shape.Members(shape.Value{Raw: body})
	if err != nil {
		return 0, fmt.Errorf("%s: count of tokens: %w", provider, err)
	}
	if json.Unmarshal(all.Get(field), &n) != nil {
		return 0, fmt.Errorf("%s: count of tokens: want %s: %.60q", provider, field, body)
	}
	return int(n), nil
}
