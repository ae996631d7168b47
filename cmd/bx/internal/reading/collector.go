package reading

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/lenient"
)

// field is a text of the model.
type field int

const (
	inText field = iota
	inThought
)

func fieldOf(k utp.Kind) field {
	if k == utp.EventThink {
		return inThought
	}
	return inText
}

// name is what Place.In calls the field.
func (f field) name() string {
	if f == inThought {
		return "reasoning"
	}
	return ""
}

// place is where a piece of the field stands.
func (f field) place(from, to int) *Place {
	return &Place{In: f.name(), Offset: from, Length: to - from}
}

// collector makes a Reading of events. The Raws of the events of a text tile
// it: their lengths add up to the places of the calls.
type collector struct {
	own      reader // that r points to, if it is to be reused
	r        *reader
	wire     bool // the events are those of a provider's reply
	fed      [2]int
	at       [2]int // bytes that the events cover so far
	evs      []utp.Event
	run      run
	calls    []found
	problems []Problem
	events   []Event
	live     *live // of a stream
	err      error
}

// begin makes the collector ready for an input. What came of the one before is
// not valid any more.
func (c *collector) begin(r *reader, wire bool) *collector {
	*c = collector{own: c.own, r: r, wire: wire, evs: c.evs[:0], calls: c.calls[:0], problems: c.problems[:0], run: run{text: c.run.text, raw: c.run.raw}}
	return c
}

// found is a call on its way.
type found struct {
	part     int
	in       field
	from, to int
	call     utp.Call
	done     bool
	broken   *utp.Problem // of a native call that cannot be read
	told     *Call        // as it was told before the end
	flagged  []Problem    // that go with what was told
}

func (c *collector) all(evs []utp.Event) {
	for i := range evs {
		if c.r.o.Events {
			in := c.reads()
			c.events = append(c.events, eventOf(&evs[i], in.name(), c.fed[in]))
		}
		c.add(evs[i])
		if c.live != nil {
			c.complete(&c.events[len(c.events)-1])
		}
	}
}

func eventOf(e *utp.Event, in string, fed int) Event {
	return Event{In: in, Fed: fed, Kind: e.Kind.String(), Part: e.Part, Text: e.Text, Call: e.Call, Value: e.Value, Problem: e.Problem, End: e.End, Raw: e.Raw}
}

func (c *collector) add(e utp.Event) {
	in := c.reads()
	from := c.at[in]
	c.at[in] += len(e.Raw)
	switch e.Kind {
	case utp.EventCallStart:
		c.calls = append(c.calls, found{part: e.Part, in: in, from: from, call: *e.Call})
	case utp.EventCallEnd:
		c.end(e.Part, *e.Call)
	case utp.EventWhole:
		if call, ok := e.Value.(utp.Call); ok {
			c.calls = append(c.calls, found{part: e.Part, call: call, done: true})
		}
	case utp.EventProblem:
		c.problem(&e, in)
	}
	c.keep(e)
}

// reads is the field whose parser an event comes from. A parser of thinking
// gives all that it was fed before a text goes on.
func (c *collector) reads() field {
	if c.at[inThought] < c.fed[inThought] {
		return inThought
	}
	return inText
}

func (c *collector) find(part int) *found {
	for i := len(c.calls) - 1; i >= 0; i-- {
		if f := &c.calls[i]; f.part == part && !f.done {
			return f
		}
	}
	return nil
}

func (c *collector) end(part int, call utp.Call) {
	if f := c.find(part); f != nil {
		f.call, f.done, f.to = call, true, c.at[f.in]
	}
}

// problem notes a problem. A native call that cannot be read stays a call.
func (c *collector) problem(e *utp.Event, in field) {
	p, f := e.Problem, c.find(e.Part)
	if f != nil {
		in = f.in
	}
	out := Problem{Kind: p.Kind, Grammar: p.Grammar, Name: p.Name, Message: words(p)}
	if p.Grammar == "" && c.wire {
		if c.native(p, f) {
			return
		}
		out.Raw = p.Raw
	} else {
		c.drop(f)
		if !p.Shows() {
			out.Raw = p.Raw
		}
		out.Place = in.place(c.at[in]-len(p.Raw), c.at[in])
	}
	c.problems = append(c.problems, out)
	if broken(p.Kind) {
		c.refuse(e, out)
	}
}

// refuse does with a broken call what the policy says.
func (c *collector) refuse(e *utp.Event, p Problem) {
	switch c.r.o.Policy.Malformed {
	case Fail:
		if c.err == nil {
			c.err = problemError(p)
		}
	case Strip:
		for i := range c.evs {
			if k := c.evs[i].Kind; c.evs[i].Part == e.Part && (k == utp.EventCallStart || k == utp.EventCallDelta) {
				c.evs[i].Kind, c.evs[i].Call = utp.EventMark, nil
			}
		}
		c.keep(utp.Event{Kind: utp.EventMark, Part: e.Part, Raw: e.Raw})
		e.Raw = ""
	}
}

func problemError(p Problem) error {
	where := ""
	if p.Place != nil {
		where = fmt.Sprintf(" at offset %d", p.Offset)
	}
	if p.Name != "" {
		where = " of " + p.Name + where
	}
	return fmt.Errorf("%s call%s: %s", p.Kind, where, p.Message)
}

func (c *collector) drop(f *found) {
	if f != nil {
		c.calls = slices.DeleteFunc(c.calls, func(o found) bool { return o.part == f.part && !o.done })
	}
}

// native notes what is wrong with a native call. It reports true if that could
// be mended.
func (c *collector) native(p *utp.Problem, f *found) bool {
	if f == nil && p.Name == "" {
		return false
	}
	if f == nil {
		c.calls = append(c.calls, found{call: utp.Call{Name: p.Name, Source: utp.SourceNative}})
		f = &c.calls[len(c.calls)-1]
	}
	f.done = true
	if args, fixes, ok := lenient.Object(p.Raw, lenient.Options{}); ok && p.Kind == utp.ProblemMalformed && c.r.mends() {
		f.call.Args, f.call.Fixes = args, utp.Fixes(fixes)
		return true
	}
	f.broken = p
	return false
}

// run is a run of events of one kind and part that are kept as one.
type run struct {
	on        bool
	text, raw []byte
}

// keep keeps an event for Collect; runs of deltas become one.
func (c *collector) keep(e utp.Event) {
	if n := len(c.evs); n > 0 && delta(e.Kind) && c.evs[n-1].Kind == e.Kind && c.evs[n-1].Part == e.Part {
		if !c.run.on {
			c.run.on, c.run.text, c.run.raw = true, append(c.run.text[:0], c.evs[n-1].Text...), append(c.run.raw[:0], c.evs[n-1].Raw...)
		}
		c.run.text, c.run.raw = append(c.run.text, e.Text...), append(c.run.raw, e.Raw...)
		return
	}
	c.settle()
	c.evs = append(c.evs, e)
}

func delta(k utp.Kind) bool {
	return k == utp.EventText || k == utp.EventThink || k == utp.EventCallDelta
}

func (c *collector) settle() {
	if c.run.on {
		last := &c.evs[len(c.evs)-1]
		last.Text, last.Raw, c.run.on = string(c.run.text), string(c.run.raw), false
	}
}

// reading is the result.
func (c *collector) reading() (*Reading, error) {
	c.settle()
	if c.err != nil {
		return nil, c.err
	}
	reply := utp.Collect(c.evs)
	out := &Reading{Content: reply.Text(), Reasoning: reply.Thinking(), ToolCalls: []Call{}, Problems: c.problems, Events: c.events}
	slices.SortStableFunc(c.calls, nativeFirst)
	for i := range c.calls {
		if f := &c.calls[i]; f.done {
			out.ToolCalls = append(out.ToolCalls, c.known(f, out))
		}
	}
	number(out.ToolCalls)
	if out.Problems == nil {
		out.Problems = []Problem{}
	}
	return out, nil
}

// nativeFirst orders calls by where they come from.
func nativeFirst(a, b found) int {
	switch text := a.call.FromText(); {
	case text == b.call.FromText():
		return 0
	case text:
		return 1
	}
	return -1
}

// number gives the calls without an id "call_" and their number, or the next
// one that is free.
func number(calls []Call) {
	taken := ids{}
	for _, c := range calls {
		taken[c.ID] = true
	}
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = taken.free(i)
		}
	}
}

// ids are those that are taken.
type ids map[string]bool

// free takes the first id from "call_" and n on that is not taken.
func (t ids) free(n int) string {
	for ; ; n++ {
		if id := "call_" + strconv.Itoa(n); !t[id] {
			t[id] = true
			return id
		}
	}
}
