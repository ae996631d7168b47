package gateway

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// maxHeld bounds, in bytes, what is held of a reply that must be a call and is none
// yet. maxCall bounds what is held of a call found in text; its arguments stream after
// that.
const (
	maxHeld = 64 << 10
	maxCall = 512
)

// hold is the part of a reply that was not passed on yet. A whole reply is held to its
// end. A stream is held only
//   - at its beginning, until an event shows the client something;
//   - while a call is required and none has begun;
//   - during a short call found in text; and
//   - after a broken call that nothing visible came before.
type hold struct {
	use
	whole bool
	tools bool // calls may be found

	seen     bool // an event that shows something was passed on
	answered bool // one that is no thought was passed on
	next     int  // one more than the highest part
	size     int
	shows    bool    // a held event would show something
	bad      bool    // a Problem is held, or a call that its server could not read
	open     *opened // a call found in text that has not ended
	events   []utp.Event
}

// opened is a call found in text whose events are held.
type opened struct {
	part   int
	counts bool // as one that the choice allows
	raw    strings.Builder
}

func (x *exchange) newHold() *hold {
	q := x.request
	h := &hold{whole: !q.Stream, tools: len(q.Tools) > 0 && q.Choice.Mode != utp.ChoiceNone}
	h.once, h.choice = !h.tools || x.way.Once || x.Limits.Retries < 0, q.Choice
	if h.tools {
		h.must = q.Choice.Mode == utp.ChoiceRequired || q.Choice.Mode == utp.ChoiceNamed
	}
	return h
}

func (h *hold) add(e utp.Event) {
	h.size += len(e.Text) + len(e.Raw)
	h.next = max(h.next, e.Part+1)
	if h.tools {
		e = h.follow(e)
		h.note(e)
	}
	h.events = append(h.events, e)
	h.shows = h.shows || says(e)
	h.bad = h.bad || e.Kind == utp.EventProblem || e.Kind == utp.EventFinish && e.End != nil && e.End.Stop == utp.StopBadCall
	if h.open != nil && e.Kind == utp.EventCallEnd && e.Part == h.open.part {
		h.open = nil
	}
}

// follow tracks the open call found in text. If it turns out to be no call, it becomes
// the text that it was read from.
func (h *hold) follow(e utp.Event) utp.Event {
	switch {
	case e.Kind == utp.EventCallStart && e.Call.FromText() && h.open == nil:
		h.open = &opened{part: e.Part, counts: allows(h.choice, e.Call.Name)}
	case e.Kind == utp.EventProblem && h.open != nil && e.Part == h.open.part:
		e.Raw = h.open.raw.String() + e.Raw
		if h.open.counts {
			h.calls--
		}
		h.forget(h.open.part)
		h.open = nil
	}
	if h.open != nil && e.Part == h.open.part {
		h.open.raw.WriteString(e.Raw)
	}
	return e
}

// forget drops the beginning of a call that the client has not seen.
func (h *hold) forget(part int) {
	h.events = slices.DeleteFunc(h.events, func(e utp.Event) bool {
		return e.Part == part && (e.Kind == utp.EventCallStart || e.Kind == utp.EventCallDelta)
	})
}

// holds reports whether the held events must wait for more.
func (h *hold) holds() bool {
	switch {
	case h.whole:
		return true
	case h.cut():
		return true
	case h.size > maxHeld:
		return false
	case h.open != nil && (h.open.counts || !h.must):
		return h.open.raw.Len() <= maxCall
	}
	return !h.seen && !h.shows || !h.answered && h.lacks()
}

// cut reports whether a call broke off with the last event; the next event shows
// whether the reply broke off, too.
func (h *hold) cut() bool {
	last := h.events[len(h.events)-1]
	return last.Kind == utp.EventProblem && last.Problem != nil && last.Problem.Kind == utp.ProblemTruncated
}

// pass yields all held events.
func (h *hold) pass(yield func(utp.Event, error) bool) bool {
	h.open = nil
	for _, e := range h.events {
		if says(e) {
			h.seen, h.answered = true, h.answered || !isThinking(e)
		}
		if !yield(e, nil) {
			return false
		}
	}
	h.events, h.size, h.shows, h.bad = h.events[:0], 0, false, false
	return true
}

// isThinking reports whether an event belongs to a thought, which may precede any answer.
func isThinking(e utp.Event) bool {
	_, thought := e.Value.(utp.Think)
	return e.Kind == utp.EventThink || thought
}

// settle makes the end of what is held fit for a client: unreadable native calls become
// text. It returns an error if the reply has nothing left to show and there is a reason
// for that.
func (h *hold) settle() error {
	if !h.bad || h.seen {
		return nil
	}
	limit := h.events[len(h.events)-1].End.Stop == utp.StopLength
	for _, e := range slices.Clone(h.events) {
		p := e.Problem
		if e.Kind != utp.EventProblem || p == nil || p.Grammar != "" || p.Raw == "" || e.Raw != "" || limit {
			continue
		}
		h.forget(e.Part)
		said := *p
		said.Grammar = utp.SourceNative
		at := slices.IndexFunc(h.events, func(o utp.Event) bool { return o.Problem == p })
		h.events[at].Problem, h.events[at].Raw = &said, strings.TrimSpace(p.Name+" "+p.Raw)
	}
	return wire.Broken(utp.Collect(h.events))
}
