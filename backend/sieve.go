package backend

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// sieve lets through what of a reply counts: it takes the marks out of the
// text, and ends the reply for the reader where the model should have ended it.
// What it takes out stays as Mark events. It sees the events of the parse, so
// that nothing in a call's arguments is a mark.
type sieve struct {
	marks  []mark
	tight  bool // of empty lines in a row one counts
	single bool // the first call is the last
	stops  func(dialect string) []string
	final  string // what ends a ReAct model's thinking, "final answer": no call stands behind its answer; "": not so
	tell   func(raw, why string)

	out      []utp.Event
	hold     string       // text that may still become a mark
	part     int          // of hold
	inside   bool         // the text stands in the middle of a line
	raw      bool         // the text covers text of the model
	skip     string       // closer of the mark that is open; "": none is
	over     string       // why nothing more counts
	dead     map[int]bool // parts that do not count
	started  int          // calls
	closed   bool         // the thinking has ended
	answered bool         // text stood behind that
	said     bool         // the reply holds something so far
	breaks   int          // newlines at the end of the text, if tight

	early utp.Event // the text so far, while a ReAct model may still come to its final answer
	begun bool      // the answer has begun: no text is early any more
	muse  string    // what begins a ReAct model's thinking: "Thought"
	aloud bool      // it stands behind that
	mused string    // what stood there
}

// event gives the events to pass on for e, valid until the next call.
func (s *sieve) event(e utp.Event) []utp.Event {
	s.out = s.out[:0]
	if s.final != "" && !s.begun && s.isEarly(e) {
		return s.out
	}
	if e.Kind == utp.TextDelta && s.over == "" {
		s.text(e)
		if len(s.out) == 1 && s.out[0].Kind == e.Kind && s.out[0].Text == e.Text {
			s.out[0].Extra = e.Extra
		}
		return s.out
	}
	if s.flush(); e.Kind != utp.Finish && s.refuses(e) {
		if e.Raw != "" {
			s.out = append(s.out, utp.Event{Kind: utp.Mark, Part: e.Part, Raw: e.Raw})
		}
		return s.out
	}
	s.note(e)
	s.out = append(s.out, e)
	return s.out
}

// maxEarly is how much text before a final answer is taken for thinking aloud.
const maxEarly = 200

// isEarly keeps the first words of a ReAct model. Right before its final answer
// they are no part of that; anywhere else they are text.
func (s *sieve) isEarly(e utp.Event) bool {
	text := s.early.Text
	switch {
	case e.Kind == utp.TextDelta:
		e.Text, e.Raw = text+e.Text, s.early.Raw+e.Raw
		s.early = e
		if words := strings.TrimSpace(e.Text); len(e.Text) <= maxEarly && !strings.Contains(words, "\n\n") {
			return true
		}
		s.begun = true
		s.text(e)
		return true
	case text == "":
		s.begun = e.Kind == utp.CallStart || s.ends(e)
	case s.ends(e):
		s.out = append(s.out, utp.Event{Kind: utp.Mark, Part: s.early.Part, Raw: s.early.Raw})
		s.begun = true
	default:
		s.text(s.early)
		s.begun = true
	}
	return false
}

// ends reports the mark that ends a ReAct model's thinking.
func (s *sieve) ends(e utp.Event) bool {
	return e.Kind == utp.Mark && strings.Contains(strings.ToLower(e.Raw), s.final)
}

// refuses reports whether an event does not count.
func (s *sieve) refuses(e utp.Event) bool {
	if e.Kind == utp.CallStart {
		if why := s.against(); why != "" {
			s.dead[e.Part] = true
			s.tell(e.Call.Name, "dropped: "+why)
		}
	}
	return s.over != "" || s.skip != "" || s.dead[e.Part]
}

// against says why a call that starts now does not count.
func (s *sieve) against() string {
	switch {
	case s.over != "":
		return s.over
	case s.skip != "":
		return "it stands in what is no part of the answer"
	case s.answered:
		return "it stands behind the final answer"
	case s.single && s.started > 0:
		return onlyOne
	}
	return ""
}

const onlyOne = "one call in a reply was asked for"

// note keeps what the next events are judged by.
func (s *sieve) note(e utp.Event) {
	switch e.Kind {
	case utp.CallStart:
		s.started++
		s.behind(strings.TrimPrefix(e.Call.Source, "text:"))
	case utp.CallEnd:
		if s.said = true; s.single {
			s.over = onlyOne
		}
	case utp.ProblemEvent:
		s.said = true
		s.started = max(0, s.started-1)
	case utp.Whole:
		s.said = true
	case utp.ThinkDelta:
		if s.aloud && len(s.mused) <= maxSaid {
			s.mused += e.Text
		}
	case utp.Mark:
		if strings.TrimSpace(e.Raw) != "" {
			s.aloud = s.muse != "" && strings.Contains(strings.ToLower(e.Raw), s.muse)
		}
		s.closed = s.closed || s.final != "" && s.ends(e)
		s.invented(e.Raw)
	}
	if e.Raw != "" {
		s.inside = !strings.HasSuffix(e.Raw, "\n")
	}
}

// invented looks for a mark that ends the reply in markup that the parse has
// taken out.
func (s *sieve) invented(raw string) {
	for _, m := range s.marks {
		if m.after && s.started > 0 && strings.Contains(raw, m.open) {
			s.over = behindThat(m)
			s.tell(raw, "dropped: "+s.over)
			return
		}
	}
}

func behindThat(m mark) string {
	return "it stands behind " + strings.TrimSpace(m.open) + ", which is not the model's to say"
}

func (s *sieve) text(e utp.Event) {
	if e.Part != s.part {
		s.flush()
	}
	s.part, s.raw = e.Part, e.Raw != ""
	for s.hold += e.Text; s.step(); {
	}
}

// step takes the next mark out of what is held. It reports whether there may be
// another one.
func (s *sieve) step() bool {
	if s.skip != "" {
		return s.skipped()
	}
	at, m := s.find()
	s.give(at)
	switch {
	case m == nil:
		return false
	case m.ends && s.said:
		s.over = behindThat(*m)
		s.tell(s.hold, "dropped: "+s.over)
		s.drop(len(s.hold))
		return false
	case m.close != "":
		s.skip = m.close
	}
	s.drop(len(m.open))
	return true
}

// skipped goes on to the closer of the open mark.
func (s *sieve) skipped() bool {
	i := strings.Index(s.hold, s.skip)
	if i < 0 {
		s.drop(len(s.hold) - overlap(s.hold, s.skip))
		return false
	}
	s.drop(i + len(s.skip))
	s.skip = ""
	return true
}

// find gives the first place in hold where a mark stands. Without one it gives
// the place where one may still begin, or the end.
func (s *sieve) find() (at int, found *mark) {
	at = len(s.hold)
	for i := range s.marks {
		m := &s.marks[i]
		if m.after && s.started == 0 {
			continue
		}
		if p := s.place(m); p >= 0 && (p < at || p == at && found == nil) {
			at, found = p, m
		}
	}
	for i := range s.marks {
		m := &s.marks[i]
		if p := len(s.hold) - overlap(s.hold, m.open); p < at && !(m.after && s.started == 0) && (!m.line || s.begins(p)) {
			at, found = p, nil
		}
	}
	return at, found
}

// place finds a whole mark in hold.
func (s *sieve) place(m *mark) int {
	for from := 0; ; {
		i := strings.Index(s.hold[from:], m.open)
		if i < 0 {
			return -1
		}
		if from += i; !m.line || s.begins(from) {
			return from
		}
		from++
	}
}

// begins reports whether a line begins at an offset of hold.
func (s *sieve) begins(at int) bool {
	if at == 0 {
		return !s.inside
	}
	return s.hold[at-1] == '\n'
}

// overlap is how much of the end of s may be the beginning of a mark that is
// not complete.
func overlap(s, mark string) int {
	for n := min(len(s), len(mark)-1); n > 0; n-- {
		if strings.HasSuffix(s, mark[:n]) {
			return n
		}
	}
	return 0
}

// give passes the first n bytes of hold on.
func (s *sieve) give(n int) {
	if n == 0 {
		return
	}
	e := utp.Event{Kind: utp.TextDelta, Part: s.part, Text: s.hold[:n]}
	if s.raw {
		e.Raw = e.Text
	}
	if s.tight {
		e.Text = s.tightened(e.Text)
	}
	blank := strings.TrimSpace(e.Text) == ""
	s.said, s.answered = s.said || !blank, s.answered || s.closed && !blank
	s.out = append(s.out, e)
	s.cut(n)
}

// tightened leaves one empty line of those in a row.
func (s *sieve) tightened(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c != '\n' {
			s.breaks = 0
		} else if s.breaks++; s.breaks > 2 {
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// drop takes the first n bytes of hold out of the text.
func (s *sieve) drop(n int) {
	if n == 0 {
		return
	}
	if s.raw {
		s.out = append(s.out, utp.Event{Kind: utp.Mark, Part: s.part, Raw: s.hold[:n]})
	}
	s.cut(n)
}

func (s *sieve) cut(n int) {
	s.inside = s.hold[n-1] != '\n'
	s.hold = s.hold[n:]
}

// flush passes on what is held: nothing follows that could make it a mark.
func (s *sieve) flush() {
	if s.skip != "" || s.over != "" {
		s.drop(len(s.hold))
		return
	}
	s.give(len(s.hold))
}
