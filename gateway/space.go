package gateway

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
)

// trimmed passes a stream on without the white space that utp.Collect takes from
// a whole reply: what stands between text and the markup of calls and thinking.
func trimmed(events iter.Seq2[utp.Event, error]) iter.Seq2[utp.Event, error] {
	return func(yield func(utp.Event, error) bool) {
		t := trimmer{part: -1}
		for e, err := range events {
			if err != nil {
				yield(utp.Event{}, err)
				return
			}
			for _, e := range t.event(e) {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// trimmer holds the white space at the end of a text until it is known what
// stands behind it.
type trimmer struct {
	part   int  // the last one that has begun; -1: none
	text   bool // it is text, and what follows as text belongs to it
	parsed bool // it came out of a text
	marked bool // a mark stands behind what has come of it
	inner  bool // nothing is cut from its beginning any more

	space []byte   // held
	kind  utp.Kind // of what the space belongs to
	at    int      // its part
	out   []utp.Event
}

// event gives what may go on; the slice is valid until the next event.
func (t *trimmer) event(e utp.Event) []utp.Event {
	t.out = t.out[:0]
	switch e.Kind {
	case utp.Mark:
		t.marked = true
	case utp.Finish:
		t.release(!t.marked)
	case utp.ProblemEvent:
		if !e.Problem.Shows() {
			t.marked = true
			break
		}
		if e.Raw != "" { // it is text now
			t.text, t.parsed, t.inner = true, true, true
		}
		t.release(true)
	default:
		return t.of(e)
	}
	return append(t.out, e)
}

// of takes an event of a part.
func (t *trimmer) of(e utp.Event) []utp.Event {
	words := e.Kind == utp.TextDelta || e.Kind == utp.ThinkDelta
	parsed := e.Raw != "" || e.Call != nil && e.Call.FromText()
	if e.Part != t.part && !(t.text && parsed && e.Kind == utp.TextDelta) {
		t.release(!t.marked && !(t.parsed && parsed))
		t.inner = !t.marked && !t.parsed
		t.parsed, t.text = parsed, parsed && e.Kind == utp.TextDelta
	}
	t.part, t.marked = e.Part, false
	if parsed && words {
		e = t.trim(e)
	}
	if words && e.Text == "" {
		return t.out
	}
	return append(t.out, e)
}

// trim takes from an event what may have to go.
func (t *trimmer) trim(e utp.Event) utp.Event {
	if !t.inner {
		e.Text = strings.TrimLeftFunc(e.Text, unicode.IsSpace)
	}
	words := strings.TrimRightFunc(e.Text, unicode.IsSpace)
	behind := e.Text[len(words):]
	t.kind, t.at = e.Kind, e.Part
	if e.Text = words; words != "" {
		e.Text = string(t.space) + words
		t.space, t.inner = t.space[:0], true
	}
	t.space = append(t.space, behind...)
	return e
}

// release lets go of the white space that was held.
func (t *trimmer) release(stays bool) {
	if stays && len(t.space) > 0 {
		space := string(t.space)
		t.out = append(t.out, utp.Event{Kind: t.kind, Part: t.at, Text: space, Raw: space})
	}
	t.space = t.space[:0]
}

// lines keep the texts of a reply apart in an API that has one text for all of
// it: where a call or thinking stands between two, a line ends.
type lines struct {
	said    bool // there was a text
	between bool // and something else behind it
	space   bool // it ended in white space
}

func (l *lines) text(s string) string {
	if s == "" {
		return s
	}
	first, _ := utf8.DecodeRuneInString(s)
	if l.said && l.between && !l.space && !unicode.IsSpace(first) {
		s = "\n" + s
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	l.said, l.between, l.space = true, false, unicode.IsSpace(last)
	return s
}

func (l *lines) event(e utp.Event) utp.Event {
	switch e.Kind {
	case utp.TextDelta:
		e.Text = l.text(e.Text)
	case utp.ThinkDelta, utp.CallStart, utp.Whole:
		l.between = true
	}
	return e
}

func (l *lines) reply(r utp.Reply) utp.Reply {
	r.Parts = slices.Clone(r.Parts)
	for i, p := range r.Parts {
		if t, ok := p.(utp.Text); ok {
			t.Text = l.text(t.Text)
			r.Parts[i] = t
			continue
		}
		l.between = true
	}
	return r
}
