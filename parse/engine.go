package parse

import (
	"strings"
	"unicode"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
	"github.com/unifiedtoolprotocol/utp/schema"
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
	inLost                 // where such an element broke off
	inAfter                // after a balanced call, before its closer
	inTagged               // between tagged arguments
	inValue                // in a tagged argument
	inNest                 // in a tagged argument that nests
	inPlain                // in a body that is plain text
	inSkip                 // after a broken call
	inTail                 // after a block of calls: closers too many
	inFence                // in a code fence that may hold calls
	inCode                 // in a code fence that holds none
	inDrop                 // in what is no part of the answer
	inRest                 // after the model began to invent a conversation: nothing is a call
)

// Parser reads one reply. It is not safe for concurrent use.
type Parser struct {
	cfg       Config
	m         *machine
	preferred []*gram
	tools     *schema.Set // the offered tools; nil: not known

	unknown string // the last name that means none of them

	st    state
	out   []utp.Event
	all   string // the text at hand
	src   string // all, up to where an open call or trial must have ended
	end   bool   // the output ends behind src
	pos   int    // src[:pos] is consumed
	done  int    // src[:done] is covered by events
	base  int    // offset of src[0] in the text
	hold  string // not consumed yet, kept for the next Feed
	prev  byte   // before src[0]
	carry []byte // consumed before src[0], not covered yet
	eof   bool   // the text is complete
	cut   bool   // and ended early
	idle  int    // steps since a byte was consumed
	work  int    // bytes looked at

	line     bool   // at a line start
	sentence bool   // JSON within a line may be a call
	loose    bool   // it reads a text that is said to be a call
	program  bool   // a line of a program was read: calls beside it are its own
	inline   bool   // inside `code` on this line
	noBare   int    // no bare forms before this offset: they were tried
	noTry    int    // no opener at this offset: it was tried
	tried    int    // bytes read twice so far
	called   bool   // a call was read
	closes   int    // where open thinking is known to close: up to there is no call
	worded   bool   // text was read that says something
	over     string // why nothing that follows counts
	dropTo   string // closer of what is no part of the answer
	textPart int    // the open text or thinking part, or -1
	nextPart int

	think    *gram  // whose thinking is open
	message  *gram  // whose message is open
	head     []byte // of the message header being read
	cur      call
	block    int     // offset of the open block
	inLine   bool    // it began behind other words on its line
	group    *opener // the open group
	lists    int     // of lists opened in the block
	el       element
	val      value
	tries    []attempt   // what may be taken back, the innermost last
	waiting  []utp.Event // of it
	sofar    lineSoFar
	closedAt int  // where the last call ended
	foreign  bool // a turn of another speaker began: calls are shown
	fenced   bool // a fence that opened the reply held calls: later ones are text
	others   told
	anywhere bool // calls count wherever they stand: it reads what others wrote
	made     []made
	looped   bool // they repeat each other again and again
	fence    fence
	cand     []int32
	through  *through // nil in a parser within another
	inside   bool     // it reads what a fence holds
}

// run reads s as far as it can be decided.
func (p *Parser) run(s string) {
	if p.hold != "" {
		s = p.hold + s
		p.hold = ""
	}
	p.all, p.src, p.pos = s, s, 0
	p.work += len(s)
	for p.step() {
	}
	p.advance()
}

// advance keeps what was not consumed for the next Feed.
func (p *Parser) advance() {
	p.carry = append(p.carry, p.all[p.covered():p.pos]...)
	p.hold = p.all[p.pos:]
	if p.pos > 0 {
		p.prev = p.all[p.pos-1]
	}
	p.base += p.pos
	p.all, p.src, p.pos, p.done = "", "", 0, max(p.done-p.pos, 0)
}

// covered is where the text without an event begins in src. What the prompt
// gave (before offset 0) is no part of the text.
func (p *Parser) covered() int { return min(max(p.done, -p.base), p.pos) }

// step reads one thing. It reports false when more text is needed, or at the end.
func (p *Parser) step() bool {
	p.src, p.end = p.all, p.eof
	limit := p.limit()
	if p.base+len(p.all) > limit {
		if p.at() >= limit {
			p.exceed()
			return true
		}
		p.src, p.end = p.all[:limit-p.base], false
	}
	if p.pos == len(p.src) && !p.end {
		return false
	}
	pos := p.at()
	if p.read() {
		p.stuck(pos)
		return true
	}
	if p.limit() > limit { // a call has ended, and another began
		return true
	}
	if len(p.src) < len(p.all) {
		p.pos = len(p.src)
		p.exceed()
		return true
	}
	return false
}

// maxIdle is more than any way from state to state takes without a byte.
const maxIdle = 64

// stuck gives up a call that is not getting on. It never happens; were it to,
// the text would still come out.
func (p *Parser) stuck(was int) {
	if p.idle++; p.at() != was {
		p.idle = 0
	}
	if p.idle < maxIdle {
		return
	}
	p.idle = 0
	p.giveBack()
	if p.cur.open {
		p.fail(utp.Problem{Kind: utp.Malformed, Message: stuckMessage})
	}
	p.pos = len(p.src)
	p.group, p.message, p.st = nil, nil, inText
	p.text()
	p.leave()
}

const stuckMessage = "the parser does not get on"

func (p *Parser) read() bool {
	switch p.st {
	case inText, inThink:
		return p.readText()
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
	case inLost:
		return p.readLost()
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
	case inDrop:
		return p.readDrop()
	case inRest:
		return p.readRest()
	default:
		return p.readCode()
	}
}

// rest is the text not consumed yet.
func (p *Parser) rest() string { return p.src[p.pos:] }

// view is what a decision about the text not consumed yet may look at.
func (p *Parser) view() scan.View { return p.viewAt(p.pos) }

// viewAt is the view from src[i] on.
func (p *Parser) viewAt(i int) scan.View { return scan.ViewOf(p.src[i:], p.end, &p.work) }

// ended reports that all text was consumed and the output ends here.
func (p *Parser) ended() bool { return p.end && p.pos == len(p.src) }

// at is the offset of the next byte in the model's text.
func (p *Parser) at() int { return p.base + p.pos }

// skipBlanks consumes white space; it reports false if more may come.
func (p *Parser) skipBlanks() bool {
	n, open := scan.Skip(p.rest())
	p.pos += n
	return !open || p.end
}

// take is the raw text consumed since the last event.
func (p *Parser) take() string {
	raw := p.src[p.covered():p.pos]
	p.done = max(p.done, p.pos)
	if len(p.carry) > 0 {
		raw = string(append(p.carry, raw...))
		p.carry = p.carry[:0]
	}
	if p.cur.open {
		p.cur.raw = append(p.cur.raw, raw...)
	}
	p.sofar.pass(raw, p.at())
	return raw
}

// back goes n bytes back in the open call, or as far as there is text. What
// events cover stays covered.
func (p *Parser) back(n int) int {
	if n <= p.pos {
		p.pos -= n
		return n
	}
	known := append(p.cur.raw, p.carry...)
	tail := string(known[max(len(known)-(n-p.pos), 0):])
	taken := min(len(p.carry), len(tail))
	p.carry = p.carry[:len(p.carry)-taken]
	n = p.pos + len(tail)
	p.all = tail + p.all
	p.work += len(p.all)
	p.done += len(tail) - taken
	p.src, p.base, p.pos = p.all[:len(tail)+len(p.src)], p.base-len(tail), 0
	return n
}

// uncovered is the length of what take would give.
func (p *Parser) uncovered() int { return len(p.carry) + p.pos - p.covered() }

// emit sends an event that covers all consumed text.
func (p *Parser) emit(e utp.Event) {
	e.Raw = p.take()
	p.send(e)
}

func (p *Parser) send(e utp.Event) {
	if len(p.tries) > 0 {
		p.waiting = append(p.waiting, e)
		p.relax()
		return
	}
	p.out = append(p.out, e)
}

// text sends what was consumed as text or, inside thinking, as thinking.
func (p *Parser) text() {
	if p.uncovered() == 0 {
		return
	}
	if p.think == nil && p.holding() && !p.meet() {
		return
	}
	start := p.sofar
	raw := p.take()
	kind := utp.TextDelta
	p.worded = p.worded || p.think == nil && strings.TrimSpace(raw) != ""
	if p.think != nil {
		kind = utp.ThinkDelta
	} else {
		p.sofar = start
		p.sofar.say(raw, p.at())
	}
	p.send(utp.Event{Kind: kind, Part: p.openPart(), Text: raw, Raw: raw})
}

// said reports whether the reply holds something so far.
func (p *Parser) said() bool { return p.worded || p.called }

// openPart is the open text or thinking part, a new one if there is none.
func (p *Parser) openPart() int {
	if p.textPart < 0 {
		p.textPart = p.part()
	}
	return p.textPart
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

// markWords sends what was consumed as markup, but for the blanks at its end, which
// belong to the text behind it.
func (p *Parser) markWords() {
	if p.uncovered() == 0 {
		return
	}
	line := p.sofar
	raw := p.take()
	words := strings.TrimRightFunc(raw, unicode.IsSpace)
	p.sofar = line
	p.sofar.pass(words, p.at()-len(raw)+len(words))
	if words != "" {
		p.send(utp.Event{Kind: utp.Mark, Part: max(p.textPart, 0), Raw: words})
	}
	p.carry = append(p.carry, raw[len(words):]...)
}

// leave closes the open text or thinking part.
func (p *Parser) leave() {
	p.textPart, p.think, p.inline = -1, nil, false
}

// toText goes back to reading text, at a line start.
func (p *Parser) toText() {
	p.leave()
	p.st, p.line = inText, true
}
