package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// state is what the parser is reading.
type state int

const (
	inText    state = iota // text for the reader
	inThink                // reasoning
	inHeader               // a message header, after its opener
	inMessage              // the body of a message that a route calls a call, before its call
	inBody                 // at the arguments of a call whose name is known
	inGap                  // between the calls of a group
	inElement              // JSON or Python that holds a call or its arguments
	inAfter                // after a balanced call, before its closer
	inTagged               // between tagged arguments
	inValue                // in a tagged argument
	inNest                 // in a tagged argument that nests
	inPlain                // in a body that is plain text
	inSkip                 // after a broken call
	inTail                 // after a block of calls: closers too many
	inFence                // in a code fence that may hold calls
	inFenced               // after such a fence: nothing may follow
	inCode                 // in a code fence that holds none
)

// Parser reads one reply. It is not safe for concurrent use.
type Parser struct {
	cfg   Config
	m     *machine
	names *names // of the offered tools; nil: not known

	st    state
	out   []utp.Event
	src   string // the text at hand; src[:pos] is consumed, src[:done] covered by events
	pos   int
	done  int
	base  int    // offset of src[0] in the text
	hold  []byte // not consumed yet, kept for the next Feed
	carry []byte // consumed before src[0], not covered yet
	eof   bool
	cut   bool

	line     bool // at a line start
	inline   bool // inside `code` on this line
	noBare   int  // no bare forms before this offset: they were tried
	noTry    int  // no opener at this offset: it was tried; -1: none
	tried    int  // bytes read twice so far
	textPart int  // the open text or thinking part, or -1
	nextPart int

	think   *gram  // whose thinking is open
	message *gram  // whose message is open
	head    []byte // of the message header being read
	cur     call
	group   *opener // the open group
	lists   int     // of lists opened in the block
	el      element
	val     value
	trial   trial
	fence   fence
	cand    []int32
	through through
}

// run reads s as far as it can be decided.
func (p *Parser) run(s string) {
	if len(p.hold) > 0 {
		s = string(append(p.hold, s...))
		p.hold = p.hold[:0]
	}
	p.src, p.pos, p.done = s, 0, 0
	for p.step() {
	}
	p.carry = append(p.carry, p.src[p.covered():p.pos]...)
	p.hold = append(p.hold, p.src[p.pos:]...)
	p.base += p.pos
	p.src, p.pos, p.done = "", 0, 0
}

// covered is where the text without an event begins in src. What the prompt
// gave (before offset 0) is no part of the text.
func (p *Parser) covered() int { return min(max(p.done, -p.base), p.pos) }

// step reads one thing. It reports false when more text is needed, or at the end.
func (p *Parser) step() bool {
	if p.pos == len(p.src) && !p.eof {
		return false
	}
	if p.trial.on && p.at()-p.trial.start > maxTrial {
		p.reject()
	}
	if p.over() {
		return true
	}
	switch p.st {
	case inText:
		return p.readText()
	case inThink:
		return p.readThink()
	case inHeader:
		return p.readHeader()
	case inMessage:
		return p.readMessage()
	case inBody:
		return p.readBody()
	case inGap:
		return p.readGap()
	case inElement:
		return p.readElement()
	case inAfter:
		return p.readAfter()
	case inTagged:
		return p.readTagged()
	case inValue:
		return p.readValue()
	case inNest:
		return p.readNest()
	case inPlain:
		return p.readPlain()
	case inSkip:
		return p.readSkip()
	case inTail:
		return p.readTail()
	case inFence:
		return p.readFence()
	case inFenced:
		return p.readFenced()
	default:
		return p.readCode()
	}
}

// rest is the text not consumed yet.
func (p *Parser) rest() string { return p.src[p.pos:] }

// at is the offset of the next byte in the model's text.
func (p *Parser) at() int { return p.base + p.pos }

// take is the raw text consumed since the last event.
func (p *Parser) take() string {
	raw := p.src[p.covered():p.pos]
	p.done = p.pos
	if len(p.carry) > 0 {
		raw = string(append(p.carry, raw...))
		p.carry = p.carry[:0]
	}
	if p.cur.open {
		p.cur.raw = append(p.cur.raw, raw...)
	}
	return raw
}

// uncovered is what take would give, without taking it.
func (p *Parser) uncovered() int { return len(p.carry) + p.pos - p.covered() }

// emit sends an event that covers all consumed text.
func (p *Parser) emit(e utp.Event) {
	e.Raw = p.take()
	p.send(e)
}

func (p *Parser) send(e utp.Event) {
	if p.trial.on {
		p.trial.events = append(p.trial.events, e)
		return
	}
	p.out = append(p.out, e)
}

// text sends what was consumed as text or, inside thinking, as thinking.
func (p *Parser) text() {
	if p.uncovered() == 0 {
		return
	}
	raw := p.take()
	kind := utp.TextDelta
	if p.think != nil {
		kind = utp.ThinkDelta
	}
	if p.textPart < 0 {
		p.textPart = p.part()
	}
	p.send(utp.Event{Kind: kind, Part: p.textPart, Text: raw, Raw: raw})
}

// part numbers a new part.
func (p *Parser) part() int {
	p.nextPart++
	return p.nextPart - 1
}

// mark sends what was consumed as markup.
func (p *Parser) mark() {
	if p.uncovered() > 0 {
		p.emit(utp.Event{Kind: utp.Mark, Part: max(p.textPart, 0)})
	}
}

// skipBlanks consumes white space; it reports false if more may come.
func (p *Parser) skipBlanks() bool {
	n := countBlanks(p.rest())
	p.pos += n
	return p.pos < len(p.src) && !(partialBlank(p.rest()) && !p.eof) || p.eof
}

// matchAny fits the longest of the markers to the text at hand; more as long
// as one of them may still fit.
func (p *Parser) matchAny(list []marker, s string, c *caps) (int, found) {
	best, state := 0, no
	for i := range list {
		var got caps
		n, f := list[i].match(s, p.eof, &got)
		if f == more {
			return 0, more
		}
		if f == yes && (state != yes || n > best) {
			best, state = n, yes
			if c != nil {
				*c = got
			}
		}
	}
	return best, state
}

// over breaks a call that has passed the cap.
func (p *Parser) over() bool {
	if !p.cur.open || len(p.cur.raw)+p.uncovered() <= p.cfg.MaxCall {
		return false
	}
	p.fail(utp.Problem{Kind: utp.TooLong, Message: "the call is longer than the limit"})
	p.st = inText
	p.leave()
	return true
}

const (
	maxTrial = 64 << 10 // bytes held back for one trial
	maxTried = 1 << 20  // bytes read twice in one reply; then no more trials
)

// trial is a reading that may turn out not to be a call: its events wait.
type trial struct {
	on     bool
	think  *gram // it stands inside thinking
	bare   bool  // a form that is ordinary text unless a tool is named
	start  int   // offset of its first byte
	events []utp.Event
	part   int // nextPart before
	text   int // textPart before
}

func (p *Parser) try(bare bool) {
	p.trial = trial{on: true, think: p.think, bare: bare, start: p.at(), part: p.nextPart, text: p.textPart, events: p.trial.events[:0]}
}

// commit accepts the trial: its events are sent.
func (p *Parser) commit() {
	if !p.trial.on {
		return
	}
	p.trial.on = false
	p.out = append(p.out, p.trial.events...)
	p.trial.events = p.trial.events[:0]
}

// reject gives the trial's bytes back; they are read again as plain text.
func (p *Parser) reject() {
	if !p.trial.on {
		return
	}
	t := &p.trial
	t.on = false
	p.cur.open, p.group = false, nil
	var b strings.Builder
	for i := range t.events {
		b.WriteString(t.events[i].Raw)
	}
	b.WriteString(p.take())
	tried := b.Len()
	b.WriteString(p.rest())
	p.base = t.start
	p.src, p.pos, p.done = b.String(), 0, 0
	p.noBare, p.noTry = p.base+tried, t.start
	p.tried += tried
	p.nextPart, p.textPart, p.think = t.part, t.text, t.think
	p.st = inText
	if p.think != nil {
		p.st = inThink
	}
}
