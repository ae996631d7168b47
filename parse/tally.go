package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// tally decides of whole events whether they count, where the text alone does not
// say it: one call in a reply, the final answer of a ReAct model, empty lines.
// What does not count becomes a Mark.
type tally struct {
	one   bool  // the first call is the last
	tight bool  // runs of empty lines become one
	aloud *gram // in whose words the model thinks and answers; nil: in none

	out      []utp.Event
	over     string       // why nothing more counts
	dead     map[int]bool // parts that do not count
	closed   bool         // the thinking has ended
	answered bool         // text stood after that
	said     bool         // the reply holds something so far
	breaks   int          // newlines at the end of the text, if tight

	early  utp.Event // the text so far, while the model may still come to its final answer
	begun  bool      // the answer has begun: no text is early any more
	musing bool      // it thinks aloud
	mused  string    // what stood there
	thinks bool      // in the provider's own field
}

// newTally is nil where everything counts.
func newTally(p *Parser) *tally {
	var aloud *gram
	for _, g := range p.preferred {
		if g.answers() && aloud == nil {
			aloud = g
		}
	}
	if aloud == nil && !p.cfg.OneCall && !p.cfg.Marks.Tight {
		return nil
	}
	return &tally{one: p.cfg.OneCall, tight: p.cfg.Marks.Tight, aloud: aloud, dead: map[int]bool{}}
}

// events gives those that count, valid until the next call.
func (t *tally) events(evs []utp.Event) []utp.Event {
	if t == nil {
		return evs
	}
	t.out = t.out[:0]
	for _, e := range evs {
		t.event(e)
	}
	return t.out
}

func (t *tally) event(e utp.Event) {
	switch {
	case t.aloud != nil && !t.begun && t.isEarly(e):
	case e.Kind == utp.EventText && t.over == "":
		t.text(e)
	default:
		if why, refused := t.refuses(e); refused {
			t.mark(e, why)
			return
		}
		if p := e.Problem; p != nil && p.Kind == utp.ProblemUnknownTool && t.answered {
			e = utp.Event{Kind: utp.EventText, Part: e.Part, Text: e.Raw, Raw: e.Raw} // of what the answer talks about
		}
		t.note(e)
		t.out = append(t.out, e)
	}
}

// mark keeps the text of an event that does not count, and says why once.
func (t *tally) mark(e utp.Event, why string) {
	if e.Raw != "" || why != "" {
		t.out = append(t.out, utp.Event{Kind: utp.EventMark, Part: e.Part, Text: why, Raw: e.Raw})
	}
}

// maxEarly is how much text before a final answer is taken for thinking aloud.
const maxEarly = 200

// isEarly keeps the first words of a ReAct model. Right before its final answer
// they are no part of that; anywhere else they are text.
func (t *tally) isEarly(e utp.Event) bool {
	switch {
	case e.Kind == utp.EventText:
		e.Text, e.Raw = t.early.Text+e.Text, t.early.Raw+e.Raw
		t.early = e
		if len(e.Text) > maxEarly || strings.Contains(strings.TrimSpace(e.Text), "\n\n") {
			t.giveEarly()
		}
		return true
	case t.early.Text == "":
		t.begun = e.Kind == utp.EventCallStart || t.ends(e)
	case t.ends(e):
		t.mark(t.early, "")
		t.begun = true
	default:
		t.giveEarly()
	}
	return false
}

func (t *tally) giveEarly() {
	t.begun = true
	t.text(t.early)
}

// ends reports the mark that ends the model's thinking.
func (t *tally) ends(e utp.Event) bool {
	return e.Kind == utp.EventMark && isMarker(t.aloud.think.close, e.Raw)
}

// isMarker reports whether s, but for blanks, is one of the markers.
func isMarker(list []scan.Marker, s string) bool {
	return scan.Fits(list, scan.View{S: strings.TrimSpace(s), End: true, Work: new(int)}) == scan.Yes
}

// refuses reports whether an event does not count and, where a call begins, why.
func (t *tally) refuses(e utp.Event) (why string, refused bool) {
	if e.Kind == utp.EventCallStart {
		switch {
		case t.over != "":
			why = t.over
		case t.answered:
			why = "the call of " + e.Call.Name + " stands after the final answer"
		}
		t.dead[e.Part] = t.dead[e.Part] || why != ""
	}
	return why, t.over != "" || t.dead[e.Part]
}

// note keeps what the next events are judged by.
func (t *tally) note(e utp.Event) {
	switch e.Kind {
	case utp.EventCallEnd, utp.EventWhole, utp.EventProblem:
		t.said = true
		if _, call := e.Value.(utp.Call); t.one && (call || e.Kind == utp.EventCallEnd) {
			t.over = "one call in a reply was asked for"
		}
	case utp.EventThink:
		if t.musing && len(t.mused) <= maxMused {
			t.mused += e.Text
		}
	case utp.EventMark:
		if t.aloud != nil && strings.TrimSpace(e.Raw) != "" {
			t.musing = isMarker(t.aloud.think.open, e.Raw)
			t.closed = t.closed || t.ends(e)
		}
	}
}

// maxMused bounds what is kept of a thought.
const maxMused = 1 << 20

func (t *tally) text(e utp.Event) {
	if t.tight {
		e.Text = t.tightened(e.Text)
	}
	if strings.TrimSpace(e.Text) != "" {
		t.said, t.answered = true, t.answered || t.closed
	}
	t.out = append(t.out, e)
}

// tightened leaves one empty line of those in a row.
func (t *tally) tightened(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c != '\n' {
			t.breaks = 0
		} else if t.breaks++; t.breaks > 2 {
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// last is events for the last ones. What was kept to the end follows: the first
// words and, where the model wrote nothing but a thought, that as its answer. It
// left out the words that begin one.
func (t *tally) last(evs []utp.Event, cut bool, part func() int) []utp.Event {
	if t == nil {
		return evs
	}
	t.events(evs)
	if !t.begun && t.early.Text != "" {
		t.giveEarly()
	}
	if text := strings.TrimSpace(t.mused); text != "" && !t.thinks && !t.said && !cut {
		t.out = append(t.out, utp.Event{Kind: utp.EventText, Part: part(), Text: text})
	}
	return t.out
}
