package backend

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// flow takes the frames of one reply through the codec, the mending of native
// arguments and the parse, to the reader.
type flow struct {
	client *Client
	plan   *plan
	reader wire.Reader
	mend   *mender
	parser *parse.Parser
	thin   *thinner // nil: empty arguments stay
	yield  func(utp.Event) bool

	left     bool
	finished bool
	broken   bool         // the reply ends in an error
	dropped  map[int]bool // native parts that are dropped
	calls    int
	said     bool                     // the reply holds something so far
	dropping string                   // why its latest words do not count
	base     int                      // parts that an earlier try has used
	part     int                      // the highest one sent
	usage    utp.Usage                // of an earlier try
	empty    *utp.Event               // the Finish of a reply that says nothing, held back
	raws     map[int]*strings.Builder // of calls found in text, for Trace
	ids      map[int]string           // made for calls without one, by part
	ready    []utp.Event              // to be read next
}

func (c *Client) newFlow(p *plan, yield func(utp.Event) bool) *flow {
	f := &flow{client: c, plan: p, yield: yield, dropped: map[int]bool{}, raws: map[int]*strings.Builder{}, ids: map[int]string{}}
	f.reader = p.exchange.Reader(c.cfg.NewID)
	f.mend = newMender(c.cfg.Parse.Repair != parse.Off)
	f.parser = parse.New(p.parse)
	f.thin = newThinner(c.cfg.DropEmpty, p.parse.Tools)
	return f
}

// frames passes frames on; errLeft says that the reader wants no more.
func (f *flow) frames(frames []wire.Frame) error {
	for _, frame := range frames {
		if f.client.cfg.Dump != nil {
			f.client.cfg.Dump(nil, frame.Data)
		}
		if f.events(f.reader.Feed(frame)); f.left {
			return errLeft
		}
		if f.parser.Looping() && !f.finished { // the rest would repeat it
			f.client.warn("%s makes the same calls again and again: stopped", f.plan.model)
			f.events([]utp.Event{{Kind: utp.EventFinish, End: &utp.End{Stop: utp.StopEnd}}})
			return errLeft
		}
	}
	return nil
}

// close ends the reply and gives what the codec found wrong with it.
func (f *flow) close() error {
	if f.events(f.reader.Close()); f.left {
		return errLeft
	}
	return f.reader.Err()
}

func (f *flow) events(evs []utp.Event) {
	f.ready = f.ready[:0]
	for _, e := range evs {
		if !f.plan.choice.Calls.Native && f.native(e) {
			continue
		}
		f.ready = append(f.ready, f.mend.event(f.resolved(e))...)
	}
	f.parser.Expect(f.ready)
	for _, e := range f.ready {
		f.finished = f.finished || e.Kind == utp.EventFinish
		f.broken = f.broken || e.Kind == utp.EventFinish && e.End != nil && e.End.Stop == utp.StopError
		f.read(e)
	}
}

// resolved gives a native call the name of the tool that it means.
func (f *flow) resolved(e utp.Event) utp.Event {
	if e.Call == nil || !f.mend.on {
		return e
	}
	own, fix, ok := f.plan.parse.Tools.Resolve(e.Call.Name)
	if !ok || fix == nil {
		return e
	}
	c := *e.Call
	c.Name, c.Fixes = own, append([]utp.Fix{*fix}, c.Fixes...)
	e.Call = &c
	return e
}

// native drops the events of native calls where only text counts.
func (f *flow) native(e utp.Event) bool {
	if e.Kind == utp.EventCallStart || e.Kind == utp.EventProblem {
		f.dropped[e.Part] = true
	}
	if e.Kind == utp.EventProblem {
		f.trace(Trace{Dialect: utp.SourceNative, Raw: e.Problem.Raw, Decision: "dropped: " + e.Problem.Error()})
	}
	if e.Kind == utp.EventCallEnd {
		f.client.warn("the model called %s in the provider's own field, but only calls in the text count here (call_parser): dropped", e.Call.Name)
		f.trace(Trace{Dialect: utp.SourceNative, Raw: e.Call.RawArgs, Decision: "dropped " + e.Call.Name})
	}
	return f.dropped[e.Part]
}

// read looks for calls in the text.
func (f *flow) read(e utp.Event) {
	for _, e := range f.parser.Through(e) {
		if f.thin == nil {
			f.send(e)
			continue
		}
		for _, e := range f.thin.event(e) {
			f.send(e)
		}
	}
}

func (f *flow) send(e utp.Event) {
	if f.left {
		return
	}
	if f.broken {
		e = unsaid(e)
	}
	switch e.Kind {
	case utp.EventText:
		f.said = f.said || strings.TrimSpace(e.Text) != ""
	case utp.EventCallStart:
		e.Call = f.identified(e)
	case utp.EventCallEnd:
		e.Call = f.identified(e)
		f.calls++
		f.said = true
	case utp.EventWhole, utp.EventProblem:
		f.said = true
	case utp.EventFinish:
		if e = f.finish(e); f.mute(e) {
			f.keep(e)
			return
		}
	}
	f.tell(e)
	if e.Part >= 0 {
		e.Part += f.base
		f.part = max(f.part, e.Part)
	}
	f.left = !f.yield(e)
}

// unsaid is an event that only the end of a broken reply has set free: what was
// held because it might have become a call is neither a call nor an answer. Its
// text stays as a mark, and that of a call in its Problem.
func unsaid(e utp.Event) utp.Event {
	switch e.Kind {
	case utp.EventFinish, utp.EventMark:
	case utp.EventProblem:
		e.Raw = ""
	default:
		e = utp.Event{Kind: utp.EventMark, Part: e.Part, Raw: e.Raw}
	}
	return e
}

// keep holds the Finish back.
func (f *flow) keep(e utp.Event) { f.empty = &e }

// identified gives a call without an id one of its own.
func (f *flow) identified(e utp.Event) *utp.Call {
	if e.Call.ID != "" || f.client.cfg.NewID == nil {
		return e.Call
	}
	if f.ids[e.Part] == "" {
		f.ids[e.Part] = f.client.cfg.NewID()
	}
	c := *e.Call
	c.ID = f.ids[e.Part]
	return &c
}

// finish makes the stop fit the calls that came out in the end.
func (f *flow) finish(e utp.Event) utp.Event {
	end := utp.End{}
	if e.End != nil {
		end = *e.End
		f.client.weigh(f.plan, end.Usage)
	}
	end.Usage = f.usage.Add(end.Usage)
	switch {
	case f.calls > 0 && (end.Stop == utp.StopEnd || end.Stop == utp.StopSequence):
		end.Stop = utp.StopTool
	case f.calls == 0 && end.Stop == utp.StopTool:
		end.Stop = utp.StopEnd
	}
	e.End = &end
	return e
}

// tell traces what was found.
func (f *flow) tell(e utp.Event) {
	if f.client.cfg.Trace == nil {
		return
	}
	switch e.Kind {
	case utp.EventMark:
		if e.Text != "" && e.Text != f.dropping {
			f.dropping = e.Text
			f.trace(Trace{Raw: e.Raw, Decision: "dropped: " + e.Text})
		}
	case utp.EventCallStart, utp.EventCallDelta:
		f.raw(e.Part).WriteString(e.Raw)
	case utp.EventCallEnd:
		f.raw(e.Part).WriteString(e.Raw)
		f.trace(f.found(e))
	case utp.EventProblem:
		t := Trace{Dialect: e.Problem.Grammar, Raw: f.raw(e.Part).String() + e.Raw, Decision: e.Problem.Error()}
		if t.Raw == "" {
			t.Raw = e.Problem.Raw
		}
		f.trace(t)
	}
}

func (f *flow) raw(part int) *strings.Builder {
	if f.raws[part] == nil {
		f.raws[part] = new(strings.Builder)
	}
	return f.raws[part]
}

func (f *flow) found(e utp.Event) Trace {
	t := Trace{Dialect: e.Call.Source, Raw: f.raw(e.Part).String(), Decision: "call " + e.Call.Name}
	if e.Call.FromText() {
		t.Dialect = e.Call.Dialect()
		t.Mismatch = f.plan.parse.Tools.Len() > 0 && (f.plan.told == nil || f.plan.told.Name != t.Dialect)
	} else {
		t.Raw = e.Call.RawArgs
	}
	for _, fix := range e.Call.Fixes {
		t.Decision += "; mended " + fix.Path + " " + fix.Why
	}
	return t
}

func (f *flow) trace(t Trace) {
	if f.client.cfg.Trace != nil {
		f.client.cfg.Trace(t)
	}
}

// mute reports a reply that says nothing after a result in the provider's own
// form, as some servers give with a chat format that knows calls but no
// results. Where the form is not fixed, it is asked for again in text.
func (f *flow) mute(e utp.Event) bool {
	if !f.plan.native || !f.plan.late || f.said || e.End.Stop != utp.StopEnd {
		return false
	}
	const what = "%s said nothing after a tool's result in the provider's own form"
	if f.plan.choice.Tools.Set {
		f.client.warn(what+"; the form is set in the configuration, another one may help", f.plan.model)
		return false
	}
	f.client.warn(what+": asking once more with tools and results as text", f.plan.model)
	return true
}
