package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// reader takes the events of one reply.
type reader struct {
	t        *turn
	evs      []utp.Event
	raw      string         // markup and call text since the last text
	open     map[int]string // ids of calls that have started
	dead     map[int]bool   // parts of calls that became a Problem
	tries    []string       // calls that turned out to be tries when their text had been given out
	finished bool
	said     map[Kind]*stuck // to notice a reply that never ends
	stuck    bool            // it is one
}

// take passes an event on and keeps it, with the call's final id in it.
func (rd *reader) take(e utp.Event) {
	switch e.Kind {
	case utp.EventText:
		rd.say(Text, e, e.Text)
	case utp.EventThink:
		rd.say(Think, e, e.Text)
	case utp.EventWhole:
		rd.whole(&e)
	case utp.EventCallStart:
		e.Call = rd.named(e)
		rd.raw += e.Raw
		rd.t.emit(Event{Kind: Stream, Model: &e})
	case utp.EventCallEnd:
		e.Call = rd.named(e)
		delete(rd.open, e.Part)
		rd.parsed(e, e.Call)
	case utp.EventProblem:
		rd.problem(&e)
	default:
		rd.finished = rd.finished || e.Kind == utp.EventFinish
		rd.raw += e.Raw
		rd.t.emit(Event{Kind: Stream, Model: &e})
	}
	rd.evs = append(rd.evs, e)
}

func (rd *reader) say(k Kind, e utp.Event, text string) {
	rd.raw = ""
	rd.t.emit(Event{Kind: k, Text: text, Model: &e})
	if rd.said[k] == nil {
		rd.said[k] = &stuck{}
	}
	rd.stuck = rd.said[k].add(text)
}

// whole takes a part that came in one piece.
func (rd *reader) whole(e *utp.Event) {
	switch p := e.Value.(type) {
	case utp.Text:
		rd.say(Text, *e, p.Text)
	case utp.Think:
		rd.say(Think, *e, p.Text)
	case utp.Call:
		settle(&p)
		rd.t.ids.fix(&p)
		e.Value = p
		rd.parsed(*e, &p)
	default:
		rd.t.emit(Event{Kind: Stream, Model: e})
	}
}

// named gives the event's call its id: the one it started with.
func (rd *reader) named(e utp.Event) *utp.Call {
	c := *e.Call
	settle(&c)
	if id, ok := rd.open[e.Part]; ok {
		if c.ID != id && c.OrigID == "" {
			c.OrigID = c.ID
		}
		c.ID = id
		return &c
	}
	rd.t.ids.fix(&c)
	if e.Kind == utp.EventCallStart {
		rd.open[e.Part] = c.ID
	}
	return &c
}

// settle moves arguments that are no JSON object to RawArgs, so that the
// message stays valid JSON. The gate refuses such a call.
func settle(c *utp.Call) {
	if c.Kind == utp.CustomCall || len(c.Args) == 0 || isObject(c.Args) {
		return
	}
	if c.RawArgs == "" {
		c.RawArgs = string(c.Args)
	}
	c.Args = nil
}

func (rd *reader) parsed(e utp.Event, c *utp.Call) {
	rd.t.emit(Event{Kind: Parsed, Call: c, Raw: rd.raw + e.Raw, Model: &e})
	rd.raw = ""
}

// breakOff logs the beginning of a call that was under way when the stream broke:
// half a call is text.
func (rd *reader) breakOff() {
	if rd.raw != "" {
		rd.t.log(transcript.Entry{Kind: transcript.Text, Text: rd.raw})
	}
}

// problem reports what could not be read. Quoted markup is text of the answer;
// the text of any other problem is a broken call and stays out of it, also where
// that shows at the end of the reply only (part -1).
func (rd *reader) problem(e *utp.Event) {
	if e.Part < 0 && e.Problem != nil && e.Problem.Raw != "" {
		rd.tries = append(rd.tries, e.Problem.Raw)
	}
	raw := rd.raw + e.Raw
	rd.raw = ""
	rd.dead[e.Part] = true
	delete(rd.open, e.Part)
	if e.Problem != nil {
		rd.t.emit(Event{Kind: Problem, Problem: e.Problem, Raw: raw, Model: e})
	}
	if e.Problem != nil && e.Problem.Kind == utp.ProblemQuoted {
		rd.t.emit(Event{Kind: Text, Text: e.Raw, Model: e})
		return
	}
	e.Raw = ""
}

// reply makes the reply of what was taken.
func (rd *reader) reply() (reply, error) {
	if !rd.finished {
		return reply{}, errCut
	}
	for _, part := range slices.Sorted(maps.Keys(rd.open)) {
		rd.dead[part] = true
		p := utp.Problem{Kind: utp.ProblemTruncated, Message: "the reply ended inside the call"}
		rd.evs = append(rd.evs, utp.Event{Kind: utp.EventProblem, Part: -1, Problem: &p})
		rd.t.emit(Event{Kind: Problem, Problem: &p, Raw: rd.raw})
	}
	r := utp.Collect(rd.clean())
	for _, try := range rd.tries {
		without(&r.Message, try)
	}
	for i, p := range r.Message.Parts {
		if text, ok := p.(utp.Text); ok && rd.stuck {
			text.Text = unstuck(text.Text)
			r.Message.Parts[i] = text
		}
	}
	a := &rd.t.answer
	a.Usage = a.Usage.Add(r.Usage)
	a.Problems = append(a.Problems, r.Problems...)
	a.Stop, a.Model = r.Stop, r.Model
	rep := reply{Reply: r, stuck: rd.stuck}
	rep.calls = inOrder(&rep.Message)
	return rep, nil
}

// clean drops the beginnings of calls that never ended.
func (rd *reader) clean() []utp.Event {
	out := rd.evs[:0:0]
	for _, e := range rd.evs {
		if rd.dead[e.Part] && (e.Kind == utp.EventCallStart || e.Kind == utp.EventCallDelta) {
			continue
		}
		out = append(out, e)
	}
	return out
}

// without takes words out of the message's text, where they stand first.
func without(m *utp.Message, words string) {
	for i, p := range m.Parts {
		t, ok := p.(utp.Text)
		if before, after, found := strings.Cut(t.Text, words); ok && found {
			t.Text = strings.TrimSpace(strings.TrimRight(before, " \t\r\n") + "\n\n" + strings.TrimLeft(after, "\r\n"))
			if m.Parts[i] = t; t.Text == "" {
				m.Parts = slices.Delete(m.Parts, i, i+1)
			}
			return
		}
	}
}
