package codec

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Incoming is what the readers of replies have in common: the events that are
// built, the end that is noted on the way, and how it comes.
type Incoming struct {
	Builder
	End   utp.End
	Extra shape.Fields // of the message, for the Finish
	Over  bool         // the Finish is given; nothing more is read

	provider, model string
	err             error
}

// NewIncoming begins to read a reply of a provider's model.
func NewIncoming(provider, model string, names *Names, newID func() string) Incoming {
	return Incoming{provider: provider, model: model, Builder: Builder{Names: names, NewID: newID}}
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
		in.Over = true
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

// ReadWhole reads a body by a reader that takes a whole reply as one frame.
func ReadWhole(r wire.Reader, body []byte) (utp.Reply, error) {
	evs := append([]utp.Event(nil), r.Feed(wire.Frame{Data: body})...)
	evs = append(evs, r.Close()...)
	return utp.Collect(evs), r.Err()
}

// Outgoing is what the writers of requests have in common.
type Outgoing struct {
	Provider string
	Losses   []wire.Loss
}

// Lose reports a loss.
func (o *Outgoing) Lose(path, what, why string) {
	o.Losses = append(o.Losses, wire.Loss{Path: path, What: what, Why: why})
}

// Own is the provider's own fields of an Extra. Each of those of others is a loss.
func (o *Outgoing) Own(path string, extra json.RawMessage) shape.Fields {
	own, foreign := UnpackExtra(extra, o.Provider)
	if foreign {
		o.foreign(path, extra)
	}
	return own
}

// foreign reports what an Extra holds of other providers. An empty path is the request's.
func (o *Outgoing) foreign(path string, extra json.RawMessage) {
	if path != "" {
		path += "."
	}
	all, err := shape.Members(shape.Value{Raw: extra})
	if err != nil {
		o.Lose(path+"extra", "dropped", "it is not one of this library's")
	}
	for _, p := range all {
		if p.Name == o.Provider {
			continue
		}
		fields, err := shape.Members(shape.Value{Raw: p.Value})
		if err != nil {
			fields = shape.Fields{{Name: "extra"}}
		}
		for _, f := range fields.Without(asSaid, mark) {
			o.Lose(path+f.Name, "dropped", "only "+p.Name+" has it")
		}
		forms, _ := shape.Members(shape.Value{Raw: fields.Get(asSaid)})
		for _, f := range forms {
			o.Lose(path+f.Name, "said in part", "only "+p.Name+" has all of it")
		}
	}
}

// Refuse reports the parameters of a request that the API has no place for.
func (o *Outgoing) Refuse(why string, params ...Param) {
	for _, p := range params {
		if p.Given {
			o.Lose("params."+p.Name, "dropped", why)
		}
	}
}

// Param is a parameter of utp.Params and whether the request has it.
type Param struct {
	Name  string
	Given bool
}
