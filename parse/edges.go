package parse

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/unifiedtoolprotocol/utp"
)

// edges hands text on as it stands, and keeps what is white space alone out of it:
// that becomes a Mark. The blanks between thinking and its markers are theirs.
type edges struct {
	out     []utp.Event
	flowing [1]utp.Event // the event of flow
	given   int          // events that out shares its memory with; 0: none
	read    int          // of those
	parts   []int        // of each part the one it is among those that have more than blanks, plus 1
	count   int          // of those
	begun   int          // the part that text and thinking belong to; -1: none
	hold    waiting      // blanks that wait for words of their part
	trail   waiting      // blanks at the end of thinking
	marked  bool         // a marker stands directly before
	called  bool         // a call stands before that, or a try at one
}

// waiting is text that what follows it decides on.
type waiting struct {
	kind      utp.Kind
	part      int
	text, raw string
	extra     json.RawMessage
}

// events gives those to hand on, valid until the next call.
// They stand in the memory of evs as far as there is room.
func (s *edges) events(evs []utp.Event) []utp.Event {
	s.out, s.given = evs[:0], len(evs)
	for i := range evs {
		s.read = i + 1
		s.event(&evs[i])
	}
	return s.out
}

func (s *edges) event(e *utp.Event) {
	words := e.Kind == utp.EventText || e.Kind == utp.EventThink
	if words && e.Raw == "" && e.Text != "" {
		words = false // not of the text that is parsed
	}
	if trail := s.trail.raw != "" && !(words && e.Part == s.begun); trail || s.hold.raw != "" && !(words && e.Part == s.hold.part) {
		next := *e // what comes before it takes its place
		if e = &next; trail {
			s.endThinking(e)
		}
		if s.hold.raw != "" && !(words && e.Part == s.hold.part) {
			s.drop(e)
		}
	}
	switch {
	case !words:
		s.note(e)
		s.put(e)
	case e.Part == s.begun && e.Kind == utp.EventText:
		s.marked = false
		s.put(e)
	case e.Part == s.begun:
		s.say(*e)
	default:
		s.begin(*e)
	}
}

// flow is the event for a piece that goes on with the text of the part that has begun.
func (s *edges) flow(text string) []utp.Event {
	s.marked = false
	e := &s.flowing[0] // written field by field: a literal would be made elsewhere and copied, at three times the cost
	e.Kind, e.Part, e.Text, e.Raw = utp.EventText, s.parts[s.begun]-1, text, text
	e.Call, e.Value, e.Problem, e.End, e.Extra = nil, nil, nil, nil, nil // it was the caller's
	return s.flowing[:]
}

// begin takes words of a part that has none yet.
func (s *edges) begin(e utp.Event) {
	e.Text, e.Raw = s.hold.text+e.Text, s.hold.raw+e.Raw
	s.hold = waiting{}
	bare := strings.TrimLeftFunc(e.Text, unicode.IsSpace)
	if bare == "" {
		s.hold = waiting{e.Kind, e.Part, e.Text, e.Raw, e.Extra}
		return
	}
	raw := strings.TrimLeftFunc(e.Raw, unicode.IsSpace)
	if lead := len(e.Raw) - len(raw); lead > 0 && s.marked && !s.called && raw != "" && raw[0] == bare[0] {
		s.put(&utp.Event{Kind: utp.EventMark, Part: e.Part, Raw: e.Raw[:lead]})
		e.Text, e.Raw = bare, raw
	}
	s.begun, s.marked, s.called = e.Part, false, false
	s.say(e)
}

// say hands on words of the part that has begun.
func (s *edges) say(e utp.Event) {
	s.marked = false
	if e.Kind != utp.EventThink || e.Text != e.Raw {
		s.put(&e)
		return
	}
	e.Text, e.Raw = s.trail.text+e.Text, s.trail.raw+e.Raw
	words := strings.TrimRightFunc(e.Text, unicode.IsSpace)
	s.trail = waiting{kind: e.Kind, part: e.Part, text: e.Text[len(words):], raw: e.Raw[len(words):]}
	if e.Text, e.Raw = words, words; words != "" {
		s.put(&e)
	}
}

func (w *waiting) event() utp.Event {
	return utp.Event{Kind: w.kind, Part: w.part, Text: w.text, Extra: w.extra, Raw: w.raw}
}

// endThinking decides on the blanks at the end of thinking, by what follows.
func (s *edges) endThinking(next *utp.Event) {
	e := s.trail.event()
	if s.trail = (waiting{}); next.Kind == utp.EventMark || next.Kind == utp.EventProblem && next.Raw != "" || next.Call != nil && next.Call.FromText() {
		e = utp.Event{Kind: utp.EventMark, Part: e.Part, Raw: e.Raw}
	}
	s.put(&e)
}

// drop makes a Mark of blanks without words, unless a problem's text follows, which
// is text.
func (s *edges) drop(next *utp.Event) {
	e := s.hold.event()
	if s.hold = (waiting{}); next.Kind != utp.EventProblem || !next.Problem.Shows() || next.Raw == "" || e.Kind != utp.EventText {
		e = utp.Event{Kind: utp.EventMark, Part: e.Part, Raw: e.Raw}
	}
	s.put(&e)
}

// note keeps what the next words are judged by.
func (s *edges) note(e *utp.Event) {
	switch e.Kind {
	case utp.EventMark:
		s.marked = s.marked || strings.TrimSpace(e.Raw) != ""
	case utp.EventProblem:
		if s.called = true; e.Problem.Shows() && e.Raw != "" {
			s.begun, s.marked = e.Part, false // it is text
		}
	default:
		s.marked, s.called, s.begun = false, true, -1
	}
}

// put hands an event on, with its part among those that are.
func (s *edges) put(next *utp.Event) {
	n := len(s.out)
	if s.read <= n && n < s.given { // its place is taken by one that was not read yet
		s.out, s.given = append(make([]utp.Event, 0, 2*s.given), s.out...), 0
	}
	if n < s.given && next == &s.out[:n+1][n] {
		s.out = s.out[:n+1]
	} else {
		s.out = append(s.out, *next)
	}
	e := &s.out[n]
	if e.Kind == utp.EventFinish {
		e.Part = s.count
	} else if e.Part >= 0 && (e.Kind != utp.EventMark || s.count > 0) {
		e.Part = s.part(e.Part, e.Kind != utp.EventMark)
	}
}

func (s *edges) part(n int, begins bool) int {
	for len(s.parts) <= n {
		s.parts = append(s.parts, 0)
	}
	if s.parts[n] == 0 {
		if !begins {
			return max(s.count-1, 0)
		}
		s.count++
		s.parts[n] = s.count
	}
	return s.parts[n] - 1
}

// end is events for the last ones: what waited follows.
func (s *edges) end(evs []utp.Event) []utp.Event {
	s.events(evs)
	if s.hold.raw != "" {
		s.put(&utp.Event{Kind: utp.EventMark, Part: s.hold.part, Raw: s.hold.raw})
	}
	if s.trail.raw != "" {
		e := s.trail.event()
		s.put(&e)
	}
	return s.out
}
