package gateway

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"iter"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// ask asks the targets of the route, one after the other, until one says
// something. From its first event on a reply is its own. A target that is left
// alone is passed over, but for the last.
func (x *exchange) ask(q *utp.Request) iter.Seq2[utp.Event, error] {
	return func(yield func(utp.Event, error) bool) {
		targets := x.way.targets(q)
		for i, t := range targets {
			last := i == len(targets)-1
			if err := x.gate.breaks.allows(t.name(), x.Now()); err != nil && !last {
				x.warn("%v", err)
				continue
			}
			began, err, left := x.one(t, q, yield)
			if left || err == nil {
				return
			}
			if began || last || !elsewhere(err) || x.r.Context().Err() != nil {
				yield(utp.Event{}, err)
				return
			}
			x.warn("%s failed and another was asked: %s", t.name(), wire.FaultOf(err).Message)
		}
	}
}

// one asks a target. began says that it gave an event, left that the reader
// wants no more.
func (x *exchange) one(t Target, q *utp.Request, yield func(utp.Event, error) bool) (began bool, err error, left bool) {
	asked := *q
	asked.Model = t.asked(q.Model)
	x.report.Tries++
	x.report.Target, x.report.Speaks, x.report.Asked = t.name(), t.Backend.API(), asked.Model
	if x.chosen != nil {
		x.chosen()
	}
	ids := minting{of: x.request}
	for e, err := range t.Backend.Ask(x.r.Context(), &asked, x.hooks()) {
		if err != nil {
			if x.r.Context().Err() == nil {
				x.gate.breaks.tell(t.name(), err, x.Now())
			}
			return began, err, false
		}
		began = true
		if !yield(ids.event(e), nil) {
			return true, nil, true
		}
	}
	x.gate.breaks.tell(t.name(), nil, x.Now())
	return began, nil, false
}

func (x *exchange) hooks() wire.Hooks {
	h := wire.Hooks{
		Whole: !x.request.Stream, Idle: x.idle,
		Warn: func(s string) { x.report.Warnings = append(x.report.Warnings, wire.Redact(s)) },
		Lost: func(l []wire.Loss) { x.report.Losses = append(x.report.Losses, l...) },
	}
	if x.Trace != nil {
		h.Dump = x.dump
	}
	return h
}

// minting gives calls without an id one that the same conversation always gives,
// and no other.
type minting struct {
	of    *utp.Request
	place int
	ids   map[int]string
}

func (m *minting) event(e utp.Event) utp.Event {
	if e.Call == nil || e.Kind != utp.CallStart && e.Kind != utp.CallEnd {
		return e
	}
	if e.Kind == utp.CallStart || m.ids[e.Part] == "" {
		id := e.Call.ID
		if id == "" {
			id = mint(m.of, m.place, e.Call.Name)
		}
		if m.ids == nil {
			m.ids = map[int]string{}
		}
		m.ids[e.Part] = id
		m.place++
	}
	if e.Call.ID == "" {
		c := *e.Call
		c.ID = m.ids[e.Part]
		e.Call = &c
	}
	return e
}

// mint is the id of a call that came without one: a hash of the conversation
// before it, its place in the turn and its name.
func mint(q *utp.Request, place int, name string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %d %s", digest("", q.Messages...), place, name))
	return "call_" + base32.StdEncoding.EncodeToString(sum[:])[:24]
}
