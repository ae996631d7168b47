package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
)

// state is what the parser is reading.
type state int

const (
	inText    state = iota // text for the reader, or reasoning
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

// reading is what a parser reads.
type reading int

const (
	aReply     reading = iota
	fenceText          // what a code fence holds
	callText           // a text that is said to be a call
	othersText         // what a tool or a user wrote: calls count wherever they stand
)

// Parser reads one reply. It is not safe for concurrent use.
type Parser struct {
	*window
	cfg       *Config
	m         *machine
	reads     reading
	preferred []*gram
	tools     *offer
	sentence  bool     // JSON within a line may be a call
	through   *through // nil in a parser within another

	st     state
	idle   int // steps since a byte was consumed
	now    *moment
	tries  *attempts
	tried  *tried
	made   *history
	others *told
	over   string // why nothing that follows counts
	dropTo string // closer of what is no part of the answer
	head   []byte // of the message header being read
	cand   []int32

	block *block
	cur   call
	fence fence
}

// block is the open group of calls, or the call that stands alone.
type block struct {
	start  int     // its offset
	inLine bool    // it began after other words on its line
	group  *opener // the open group
	lists  int     // of lists opened in the block
}

// run reads s as far as it can be decided.
func (p *Parser) run(s string) {
	p.add(s)
	for p.step() {
	}
	p.advance()
}

// flow takes a piece that goes on with the words of a line and in which nothing
// begins, as in most of a stream, and returns its event: it is text as it stands. Its
// last byte is held where something may begin there. Of any other piece it takes
// nothing, and returns nil.
func (p *Parser) flow(s string) []utp.Event {
	t, w, now := p.through, p.window, p.now
	if s == "" || s[len(s)-1] >= utf8.RuneSelf || !t.steady && !p.isSteady(s[0]) {
		t.steady = false
		return nil
	}
	n := p.m.starts.Next(s, 0, w.last())
	if n < len(s) {
		ticks := 0
		n, ticks = p.m.calm(s, n)
		now.inline = now.inline != (ticks%2 == 1)
	}
	if t.steady = n > 0; !t.steady {
		return nil
	}
	if w.work += len(s); n < len(s) || w.hold != "" {
		s, t.steady = w.shift(s, n), n == len(s)
	}
	w.base += len(s)
	w.prev, p.idle = s[len(s)-1], 0
	now.worded = now.worded || strings.TrimSpace(s) != ""
	if w.prev == '\n' {
		now.sofar.say(s, w.base)
		now.line, now.inline, t.steady = true, false, false
	} else {
		now.sofar.add(s)
	}
	return t.edges.flow(s)
}

// isSteady reports whether words of a line were read, and nothing waits but a byte
// that begins nothing before next.
func (p *Parser) isSteady(next byte) bool {
	return p.st == inText && !p.now.line && p.now.think == nil && p.now.textPart >= 0 && len(p.carry) == 0 &&
		(p.hold == "" || len(p.hold) == 1 && !p.m.starts.Begin(p.hold[0], next)) &&
		len(p.tries.open) == 0 && !p.sentence && p.through.flows(p.now.textPart)
}

// step reads one thing. It reports false when more text is needed, or at the end.
func (p *Parser) step() bool {
	limit := p.limit()
	if !p.limited(limit) {
		p.exceed()
		return true
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
		p.fail(utp.Problem{Kind: utp.ProblemMalformed, Message: stuckMessage})
	}
	p.pos = len(p.src)
	p.block.group, p.now.message, p.st = nil, nil, inText
	p.text()
	p.now.leave()
}

const stuckMessage = "the parser made no progress"

func (p *Parser) read() bool {
	switch p.st {
	case inText:
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

// take is the raw text consumed since the last event.
func (p *Parser) take() string {
	raw := p.own()
	p.now.sofar.pass(raw, p.at())
	return raw
}

// own is cover for text that may belong to the open call.
func (p *Parser) own() string {
	raw := p.cover()
	if p.cur.open {
		p.cur.raw = append(p.cur.raw, raw...)
	}
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
	p.done += len(tail) - taken
	p.prepend(tail)
	return n
}

// send sends an event.
func (p *Parser) send(e *utp.Event) {
	*p.tries.add() = *e
	p.sent()
}

// sendText sends an event that holds nothing but text, as most do. It is written
// where it stays.
func (p *Parser) sendText(k utp.Kind, part int, text, raw string) {
	e := p.tries.add()
	e.Kind, e.Part, e.Text, e.Raw = k, part, text, raw
	p.sent()
}

func (p *Parser) sent() {
	if len(p.tries.open) > 0 {
		p.relax()
	}
}

// text sends what was consumed as text or, inside thinking, as thinking.
func (p *Parser) text() {
	if p.uncovered() == 0 {
		return
	}
	if p.now.think == nil && p.tries.holding() && !p.meet() {
		return
	}
	if p.now.think != nil {
		raw := p.take()
		p.sendText(utp.EventThink, p.now.openPart(), raw, raw)
		return
	}
	raw := p.own()
	p.now.worded = p.now.worded || strings.TrimSpace(raw) != ""
	p.now.sofar.say(raw, p.at())
	p.sendText(utp.EventText, p.now.openPart(), raw, raw)
}

// mark sends what was consumed as markup.
func (p *Parser) mark() {
	if p.uncovered() > 0 {
		p.sendText(utp.EventMark, max(p.now.textPart, 0), "", p.take())
	}
}

// markWords sends what was consumed as markup, but for the blanks at its end, which
// belong to the text after it.
func (p *Parser) markWords() {
	if p.uncovered() == 0 {
		return
	}
	line := p.now.sofar
	raw := p.take()
	words := strings.TrimRightFunc(raw, unicode.IsSpace)
	p.now.sofar = line
	p.now.sofar.pass(words, p.at()-len(raw)+len(words))
	if words != "" {
		p.sendText(utp.EventMark, max(p.now.textPart, 0), "", words)
	}
	p.carry = append(p.carry, raw[len(words):]...)
}

// toText goes back to reading text, at a line start.
func (p *Parser) toText() {
	p.now.leave()
	p.st, p.now.line = inText, true
}
