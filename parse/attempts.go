package parse

import (
	"math"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

const (
	maxTrial = 64 << 10 // bytes held back for one attempt
	maxTried = 1 << 20  // bytes read twice in one reply; then there are no more attempts
)

// attempt is a reading that may be taken back. The events that it sends wait:
// keep sends them, giveBack returns to where it began, to read its text again.
// Attempts nest; the last one is the innermost.
type attempt struct {
	start  int    // offset of its first byte
	from   int    // its first event of those that wait
	was    moment // before it
	think  *gram  // it stands inside thinking
	bare   bool   // a form that is ordinary text unless a tool is named
	whole  bool   // it is in doubt until the call has ended
	mused  bool   // the call has ended, the thinking around it may not have
	fence  bool   // a code fence
	prompt bool   // the end of the prompt, which is no part of the reply
	held   bool   // it holds calls for certain, and waits for what follows them
	place  place  // where it stands
}

// attempts are the events to give out, and what of them may be taken back.
type attempts struct {
	out     []utp.Event
	open    []attempt   // the innermost last
	waiting []utp.Event // of them
}

// add makes room for an event: among those that wait, if something may be taken back.
func (t *attempts) add() *utp.Event {
	to, room := &t.out, firstOut
	if len(t.open) > 0 {
		to, room = &t.waiting, firstWaiting
	}
	if *to == nil {
		*to = make([]utp.Event, 0, room)
	}
	*to = append(*to, utp.Event{})
	return &(*to)[len(*to)-1]
}

// How many events most pieces of a text, and most calls, have.
const (
	firstOut     = 2
	firstWaiting = 8
)

// last is the innermost attempt.
func (t *attempts) last() *attempt { return &t.open[len(t.open)-1] }

// trial is the innermost attempt at a call; one without content if there is none.
func (t *attempts) trial() *attempt {
	if t.inTrial() {
		return t.last()
	}
	return &attempt{}
}

// inTrial reports whether an attempt at a call is not decided.
func (t *attempts) inTrial() bool {
	if len(t.open) == 0 {
		return false
	}
	a := t.last()
	return !a.fence && !a.held && !a.prompt
}

// trying reports whether a call is being read that may turn out to be none.
func (t *attempts) trying() bool { return t.inTrial() && !t.trial().mused }

// musing reports whether a call inside thinking has ended, and the thinking has not.
func (t *attempts) musing() bool { return t.trial().mused }

// merge makes the innermost attempt a part of the one around it.
func (t *attempts) merge() { t.open = t.open[:len(t.open)-1] }

// keep accepts the innermost attempt. Outside of all others its events are sent.
func (t *attempts) keep() {
	if len(t.open) == 0 {
		return
	}
	if t.merge(); len(t.open) > 0 {
		return
	}
	if len(t.out) == 0 {
		t.out, t.waiting = t.waiting, t.out
		return
	}
	t.out = append(t.out, t.waiting...)
	clear(t.waiting)
	t.waiting = t.waiting[:0]
}

// holding reports whether a block of calls waits for what follows it.
func (t *attempts) holding() bool {
	n := len(t.open)
	return n > 0 && t.open[n-1].held
}

// hasCall reports whether a call waits, from an event on.
func (t *attempts) hasCall(from int) bool {
	return slices.ContainsFunc(t.waiting[from:], func(e utp.Event) bool { return e.Kind == utp.EventCallEnd })
}

// objects reports whether the arguments of all calls that wait were written as
// objects.
func (t *attempts) objects(from int) bool {
	return !slices.ContainsFunc(t.waiting[from:], func(e utp.Event) bool {
		return e.Kind == utp.EventCallEnd && e.Call.RawArgs != "" && !strings.HasPrefix(e.Call.RawArgs, "{")
	})
}

// take ends the innermost attempt with none of its events, and returns it and the
// text of them.
func (t *attempts) take() (a attempt, raw string) {
	a = *t.last()
	var b strings.Builder
	for i := range t.waiting[a.from:] {
		b.WriteString(t.waiting[a.from+i].Raw)
	}
	clear(t.waiting[a.from:])
	t.waiting = t.waiting[:a.from]
	t.merge()
	return a, b.String()
}

// unstart takes back the beginning of a call that waits, and returns its text. It
// reports false where that was sent.
func (t *attempts) unstart(part int) (raw string, ok bool) {
	at := slices.IndexFunc(t.waiting, func(e utp.Event) bool { return e.Kind == utp.EventCallStart && e.Part == part })
	if at < 0 {
		return "", false
	}
	var b strings.Builder
	for i := range t.waiting[at:] {
		b.WriteString(t.waiting[at+i].Raw)
	}
	clear(t.waiting[at:])
	t.waiting = t.waiting[:at]
	return b.String(), true
}

// limit is the offset at which the outermost attempt must be decided.
func (t *attempts) limit() int {
	for i := range t.open {
		if a := &t.open[i]; !a.prompt && (!a.held || a.place.shown) {
			return a.start + maxTrial
		}
	}
	return math.MaxInt
}

// moment is where a reply stands: what an attempt may change, and its end takes back.
type moment struct {
	think    *gram // whose thinking is open
	message  *gram // whose message is open
	textPart int   // the open text or thinking part, or -1
	nextPart int
	sofar    lineSoFar
	line     bool // at a line start
	inline   bool // inside `code` on this line
	worded   bool // text was read that says something
	called   bool // a call was read
	closedAt int  // where the last call ended
	program  bool // a line of a program was read: calls beside it are its own
	foreign  bool // a turn of another speaker began: calls are shown
	fenced   bool // a fence that opened the reply held calls: later ones are text
}

// part numbers a new part.
func (m *moment) part() int {
	m.nextPart++
	return m.nextPart - 1
}

// openPart is the open text or thinking part, a new one if there is none.
func (m *moment) openPart() int {
	if m.textPart < 0 {
		m.textPart = m.part()
	}
	return m.textPart
}

// leave closes the open text or thinking part.
func (m *moment) leave() { m.textPart, m.think, m.inline = -1, nil, false }

// said reports whether the reply holds something so far.
func (m *moment) said() bool { return m.worded || m.called }

// begin is the moment before the first byte.
var begin = moment{line: true, textPart: -1}

// tried is what was read as a call and turned out to be none: it is not tried again.
type tried struct {
	bare    int // no bare forms before this offset
	opener  int // no opener at this offset
	thought int // where open thinking is known to close: up to there is no call
	bytes   int // read twice so far
}

// untried is before the first attempt.
var untried = tried{bare: math.MinInt, opener: math.MinInt, thought: math.MinInt}

// spent reports whether there are no more attempts.
func (t *tried) spent() bool { return t.bytes >= maxTried }
