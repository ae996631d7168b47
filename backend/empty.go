package backend

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// thinner drops optional arguments that are empty texts. It holds the arguments
// of a call until they are there whole.
type thinner struct {
	tools *schema.Set
	held  map[int][]utp.Event // CallDeltas, by part
	out   []utp.Event
}

func newThinner(on bool, tools *schema.Set) *thinner {
	if !on || tools.Len() == 0 {
		return nil
	}
	return &thinner{tools: tools, held: map[int][]utp.Event{}}
}

// event gives the events to pass on for e, valid until the next call.
func (t *thinner) event(e utp.Event) []utp.Event {
	t.out = t.out[:0]
	switch e.Kind {
	case utp.EventCallDelta:
		t.held[e.Part] = append(t.held[e.Part], e)
		return nil
	case utp.EventCallEnd, utp.EventProblem:
		t.end(&e)
	case utp.EventWhole:
		if c, ok := e.Value.(utp.Call); ok {
			e.Value = t.thin(c)
		}
	case utp.EventFinish:
		for part := range t.held {
			t.release(part)
		}
	}
	return append(t.out, e)
}

// end lets go of the arguments of a call, of a good one without what is empty.
func (t *thinner) end(e *utp.Event) {
	if e.Kind == utp.EventProblem {
		t.release(e.Part)
		return
	}
	c := t.thin(*e.Call)
	if len(c.Fixes) == len(e.Call.Fixes) {
		t.release(e.Part)
		return
	}
	var raw strings.Builder
	for _, d := range t.held[e.Part] {
		raw.WriteString(d.Raw)
	}
	delete(t.held, e.Part)
	t.out = append(t.out, utp.Event{Kind: utp.EventCallDelta, Part: e.Part, Text: string(c.Args), Raw: raw.String()})
	e.Call = &c
}

func (t *thinner) release(part int) {
	t.out = append(t.out, t.held[part]...)
	delete(t.held, part)
}

// thin is a call without the optional arguments that are empty texts.
func (t *thinner) thin(c utp.Call) utp.Call {
	if c.Kind == utp.CustomCall {
		return c
	}
	args, fixes := t.tools.DropEmpty(c.Name, c.Args)
	c.Args, c.Fixes = args, append(c.Fixes[:len(c.Fixes):len(c.Fixes)], fixes...)
	return c
}
