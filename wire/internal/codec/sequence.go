package codec

import (
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Sequence puts the events of a reply, in whatever legal order they come, into
// the order that every client can read: one part at a time, each begun, written
// and ended before the next. What belongs to a later part waits until the parts
// before it are over; the first is passed on as it comes.
//
// Its events are: EventText and EventThink, each run of them ended by a EventPartEnd,
// whose Value is a Think for the latter; EventCallStart, EventCallDelta, EventCallEnd, with ids
// that are legal and used once, or a EventPartEnd in place of the EventCallEnd of a call that
// the output limit cut; Whole for all else; and one Finish at the end, or none if Err says why there can be none.
// Parts are numbered from 0 without gaps, and no delta is empty.
type Sequence struct {
	NewID func() string // ids for calls without one; nil: MintID
	Turn  int           // of the conversation, for MintID

	runs   map[int]*run // the last run of each part
	line   []*run       // the runs that are not over, in the order they began
	out    []utp.Event
	next   int // parts begun in out
	calls  int // ended
	ids    map[string]bool
	unread *utp.Problem // the first Problem that left no text
	cut    *utp.Problem // the first call that the output ended in
	err    error
	done   bool
}

// run is a stretch of one part.
type run struct {
	kind   utp.Kind // EventText, EventThink, EventCallStart, EventWhole
	wait   []utp.Event
	over   bool // nothing more will come
	open   bool // begun in out, and not ended
	part   int  // in out
	head   utp.Call
	args   []byte // as they came
	sent   int    // bytes of arguments in out
	object object
}

// Err is why the reply cannot end well: a call that began and never ended, or a
// reply that says nothing but what could not be read.
func (s *Sequence) Err() error { return s.err }

// Calls counts the calls that have ended.
func (s *Sequence) Calls() int { return s.calls }

// Add takes an event and gives those that can be written now. The slice is valid
// until the next Add.
func (s *Sequence) Add(e utp.Event) []utp.Event {
	s.out = s.out[:0]
	if s.done || s.err != nil {
		return nil
	}
	switch e.Kind {
	case utp.EventMark:
	case utp.EventProblem:
		s.problem(e)
	case utp.EventFinish:
		s.finish(e)
	default:
		s.part(e)
	}
	return s.out
}

// runKind is the kind of run that an event belongs to.
func runKind(e utp.Event) utp.Kind {
	switch e.Kind {
	case utp.EventCallStart, utp.EventCallDelta, utp.EventCallEnd:
		return utp.EventCallStart
	case utp.EventPartEnd:
		if _, think := e.Value.(utp.Think); think {
			return utp.EventThink
		}
	case utp.EventWhole:
		if _, call := e.Value.(utp.Call); call {
			return utp.EventCallStart
		}
	}
	return e.Kind
}

func (s *Sequence) part(e utp.Event) {
	r, kind := s.runs[e.Part], runKind(e)
	switch {
	case e.Kind == utp.EventPartEnd && kind != utp.EventThink:
		if r != nil && r.kind != utp.EventCallStart {
			s.close(r)
		}
		return
	case (e.Kind == utp.EventText || e.Kind == utp.EventThink) && e.Text == "":
		return
	case kind == utp.EventCallStart && r != nil && r.over && r.kind == kind:
		return // the end of a call that was settled
	}
	if r == nil || r.over || r.kind != kind {
		r = s.begin(e.Part, kind)
	}
	s.take(r, e)
	if e.Kind == utp.EventWhole || e.Kind == utp.EventCallEnd || e.Kind == utp.EventPartEnd {
		s.close(r)
	}
}

// begin starts a run. Text and reasoning before it are over, and so are calls
// whose arguments are complete: nothing can be added to them.
func (s *Sequence) begin(part int, kind utp.Kind) *run {
	for _, r := range s.line {
		r.settle()
	}
	s.advance()
	r := &run{kind: kind, object: newObject()}
	if s.runs == nil {
		s.runs, s.ids = map[int]*run{}, map[string]bool{}
	}
	s.runs[part] = r
	s.line = append(s.line, r)
	return r
}

// settle ends a run when something follows it. It reports whether it is over.
func (r *run) settle() bool {
	if r.kind != utp.EventCallStart || r.over {
		r.over = true
		return true
	}
	if r.head.Name == "" || !r.object.closed() || !json.Valid(r.args) {
		return false
	}
	c := r.head
	c.Args = r.args[r.object.start:r.object.end]
	r.wait, r.over = append(r.wait, utp.Event{Kind: utp.EventCallEnd, Call: &c}), true
	return true
}

func (s *Sequence) take(r *run, e utp.Event) {
	switch {
	case e.Kind == utp.EventCallDelta:
		r.object.feed(e.Text)
		r.args = append(r.args, e.Text...)
	case e.Kind == utp.EventCallStart && e.Call != nil:
		r.head = *e.Call
	}
	if s.line[0] == r {
		s.write(r, e)
		return
	}
	if e.Call != nil {
		c := *e.Call
		e.Call = &c
	}
	r.wait = append(r.wait, e)
}

func (s *Sequence) close(r *run) {
	r.over = true
	s.advance()
}

// advance ends the runs at the front that are over and lets the next one write.
func (s *Sequence) advance() {
	for len(s.line) > 0 {
		r := s.line[0]
		for _, e := range r.wait {
			s.write(r, e)
		}
		if r.wait = nil; !r.over {
			return
		}
		s.endRun(r)
		s.line = s.line[1:]
	}
}

func (s *Sequence) endRun(r *run) {
	switch {
	case r.open && r.kind == utp.EventText:
		s.emit(r, utp.Event{Kind: utp.EventPartEnd})
	case r.open && r.kind == utp.EventThink:
		s.emit(r, utp.Event{Kind: utp.EventPartEnd, Value: utp.Think{}})
	}
	r.open = false
}

func (s *Sequence) emit(r *run, e utp.Event) {
	if !r.open {
		r.open, r.part = true, s.next
		s.next++
	}
	e.Part, e.Raw = r.part, ""
	s.out = append(s.out, e)
}

// write writes an event of the run at the front.
func (s *Sequence) write(r *run, e utp.Event) {
	switch e.Kind {
	case utp.EventText, utp.EventThink:
		s.emit(r, e)
	case utp.EventPartEnd:
		if r.kind == utp.EventCallStart {
			s.emit(r, e)
			return
		}
		s.endThink(r, e.Value.(utp.Think))
	case utp.EventCallStart:
		s.start(r, *e.Call)
	case utp.EventCallDelta:
		s.more(r, e.Text)
	case utp.EventCallEnd:
		s.call(r, *e.Call)
	case utp.EventWhole:
		s.whole(r, e.Value)
	}
}

// endThink ends reasoning with what belongs to it. What comes too late, or
// belongs to reasoning that is not shown, is a part of its own.
func (s *Sequence) endThink(r *run, about utp.Think) {
	switch {
	case r.open:
		s.emit(r, utp.Event{Kind: utp.EventPartEnd, Value: about})
	case about.Signature != "":
		s.emit(r, utp.Event{Kind: utp.EventWhole, Value: about})
	}
	r.open = false
}

func (s *Sequence) whole(r *run, p utp.Part) {
	switch p := p.(type) {
	case utp.Call:
		s.call(r, p)
		return
	case utp.Text:
		if len(p.Extra) == 0 {
			if p.Text != "" {
				s.emit(r, utp.Event{Kind: utp.EventText, Text: p.Text})
				s.emit(r, utp.Event{Kind: utp.EventPartEnd})
			}
			return
		}
	case utp.Think:
		switch {
		case p.Redacted:
		case p.Text == "" && p.Signature == "":
			return
		case p.Text != "":
			s.emit(r, utp.Event{Kind: utp.EventThink, Text: p.Text})
			p.Text = ""
			s.emit(r, utp.Event{Kind: utp.EventPartEnd, Value: p})
			return
		}
	}
	s.emit(r, utp.Event{Kind: utp.EventWhole, Value: p})
}

func (s *Sequence) start(r *run, c utp.Call) {
	if r.open {
		return
	}
	c.ID = s.id(c)
	r.head = c
	s.emit(r, utp.Event{Kind: utp.EventCallStart, Call: &c})
}

func (s *Sequence) id(c utp.Call) string {
	id := c.ID
	switch {
	case id != "":
		id = ClientID(id)
	case s.NewID != nil:
		id = s.NewID()
	default:
		id = MintID(s.Turn, s.next, c.Name)
	}
	for n, base := 2, id; s.ids[id]; n++ {
		id = fmt.Sprintf("%.*s_%d", maxClientID-4, base, n)
	}
	s.ids[id] = true
	return id
}

func (s *Sequence) more(r *run, args string) {
	if args != "" && r.open {
		r.sent += len(args)
		s.emit(r, utp.Event{Kind: utp.EventCallDelta, Text: args})
	}
}

// call ends a call, and begins it if that is still to do. What the deltas left
// out of its arguments is sent.
func (s *Sequence) call(r *run, c utp.Call) {
	s.start(r, utp.Call{ID: c.ID, OrigID: c.OrigID, Name: c.Name, Kind: c.Kind, Source: c.Source, Extra: c.Extra})
	if c.Args = arguments(c); r.sent < len(c.Args) {
		s.more(r, string(c.Args[r.sent:]))
	}
	c.ID = r.head.ID
	s.calls++
	s.emit(r, utp.Event{Kind: utp.EventCallEnd, Call: &c})
}

// arguments are those of a complete call; none are {}.
func arguments(c utp.Call) json.RawMessage {
	switch {
	case len(c.Args) > 0:
		return c.Args
	case c.Kind == utp.CustomCall:
		return CustomArgs(c.RawArgs)
	}
	return json.RawMessage("{}")
}

// problem ends the reply if the call has begun: its arguments are with the
// client already. Before that it is text.
func (s *Sequence) problem(e utp.Event) {
	p := e.Problem
	if p == nil {
		p = &utp.Problem{Kind: utp.ProblemMalformed}
	}
	r := s.runs[e.Part]
	begun := r != nil && r.kind == utp.EventCallStart
	if p.Kind == utp.ProblemTruncated && s.cut == nil {
		s.cut = p
	}
	if begun {
		if p.Kind != utp.ProblemTruncated { // else the end tells whether it may stay so
			s.err = p
		}
		return
	}
	if e.Raw != "" && !p.Shows() {
		return
	}
	if e.Raw != "" {
		s.part(utp.Event{Kind: utp.EventText, Part: e.Part, Text: e.Raw})
		return
	}
	if s.unread == nil && p.Kind != utp.ProblemInvalid {
		s.unread = p
	}
}

func (s *Sequence) finish(e utp.Event) {
	end := utp.End{}
	if e.End != nil {
		end = *e.End
	}
	limit := end.Stop == utp.StopLength && s.cut != nil
	for _, r := range s.line {
		switch {
		case r.settle():
		case limit && (!r.open || r.sent > 0): // what was written of it stays; with no argument it would look whole
			r.wait, r.over = append(r.wait, utp.Event{Kind: utp.EventPartEnd}), true
		default:
			s.err = &utp.Problem{Kind: utp.ProblemTruncated, Name: r.head.Name, Message: "the stream ended inside a call"}
			return
		}
	}
	s.advance()
	if !limit {
		end.Stop = s.stop(end.Stop)
	}
	switch {
	case end.Stop == utp.StopError:
		s.err = wire.ErrCut
	case limit:
		s.done = true
		s.out = append(s.out, utp.Event{Kind: utp.EventFinish, Part: s.next, End: &end, Extra: e.Extra})
	case s.next == 0 && s.unread != nil:
		s.err = s.unread
	default:
		s.done = true
		s.out = append(s.out, utp.Event{Kind: utp.EventFinish, Part: s.next, End: &end, Extra: e.Extra})
	}
}

// stop is tool if there is a call, whatever was said, unless the reply was
// filtered, is to be continued, or broke.
func (s *Sequence) stop(said utp.Stop) utp.Stop {
	switch said {
	case utp.StopFilter, utp.StopPause, utp.StopBadCall, utp.StopError:
		return said
	}
	switch {
	case s.calls > 0:
		return utp.StopTool
	case said == "", said == utp.StopTool:
		return utp.StopEnd
	}
	return said
}
