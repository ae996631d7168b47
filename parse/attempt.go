package parse

import (
	"math"
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
	start int // offset of its first byte
	from  int // its first event of those that wait
	was   moment
	think *gram // it stands inside thinking
	bare  bool  // a form that is ordinary text unless a tool is named
	whole bool  // it is in doubt until the call has ended
	mused bool  // the call has ended, the thinking around it may not have
	fence bool  // a code fence
	held  bool  // it holds calls for certain, and waits for what follows them
	place place // where it stands
}

// moment is what of a parser an attempt changes besides where it reads.
type moment struct {
	think, message     *gram
	called, worded     bool
	nextPart, textPart int
	sofar              lineSoFar
	closedAt           int
}

func (p *Parser) moment() moment {
	return moment{p.think, p.message, p.called, p.worded, p.nextPart, p.textPart, p.sofar, p.closedAt}
}

func (p *Parser) restore(m moment) {
	p.think, p.message, p.called, p.worded, p.nextPart, p.textPart = m.think, m.message, m.called, m.worded, p.lastPart(m), m.textPart
	p.sofar, p.closedAt = m.sofar, m.closedAt
}

// lastPart is the next part to number once a moment is restored. Parts of native
// calls that came since keep their numbers.
func (p *Parser) lastPart(m moment) int {
	if p.through != nil && len(p.through.parts) > 0 {
		return p.nextPart
	}
	return m.nextPart
}

// try begins an attempt.
func (p *Parser) try(a attempt) {
	a.start, a.from, a.was = p.at(), len(p.waiting), p.moment()
	p.tries = append(p.tries, a)
}

// tryCall begins to read what may turn out to be no call.
func (p *Parser) tryCall(bare bool, at place) {
	p.joins(at)
	p.try(attempt{think: p.think, bare: bare, place: at})
}

// trial is the innermost attempt at a call; one without content if there is none.
func (p *Parser) trial() *attempt {
	if p.inTrial() {
		return &p.tries[len(p.tries)-1]
	}
	return &attempt{}
}

// inTrial reports whether an attempt at a call is not decided.
func (p *Parser) inTrial() bool {
	n := len(p.tries)
	return n > 0 && !p.tries[n-1].fence && !p.tries[n-1].held
}

// trying reports whether a call is being read that may turn out to be none.
func (p *Parser) trying() bool { return p.inTrial() && !p.trial().mused }

// musing reports whether a call inside thinking has ended, and the thinking has not.
func (p *Parser) musing() bool { return p.trial().mused }

// settleCall accepts the call of a trial that was read to its end. Inside thinking
// that is decided where the thinking closes, which makes it thought, or the text
// ends.
func (p *Parser) settleCall() {
	switch {
	case !p.trying():
	case p.trial().think != nil:
		p.trial().mused = true
	default:
		p.accept()
	}
}

// thought takes calls back that stood inside thinking which closes here.
func (p *Parser) thought() {
	p.closes = p.at()
	for len(p.tries) > 1 && p.tries[len(p.tries)-2].mused {
		p.merge()
	}
	p.giveBack()
}

// merge makes the innermost attempt a part of the one around it.
func (p *Parser) merge() { p.tries = p.tries[:len(p.tries)-1] }

// keep accepts the innermost attempt. Outside of all others its events are sent.
func (p *Parser) keep() {
	if len(p.tries) == 0 {
		return
	}
	if p.merge(); len(p.tries) > 0 {
		return
	}
	p.out = append(p.out, p.waiting...)
	clear(p.waiting)
	p.waiting = p.waiting[:0]
}

// giveBack takes the innermost attempt back: its text is read again as plain text.
// What it read through is not tried again, but for the line on which a call f(…)
// broke: such a call ends with its line.
func (p *Parser) giveBack() {
	if len(p.tries) == 0 {
		return
	}
	t := p.tries[len(p.tries)-1]
	p.cur.open, p.group = false, nil
	p.noBare, p.noTry = p.at(), t.start
	p.tried += p.at() - t.start
	raw := p.takeBack()
	if p.anywhere {
		p.noBare = t.start + 1
	} else if p.cur.plain {
		p.noBare = t.start + strings.LastIndexByte(raw, '\n') + 1
	}
	p.seek(t.start, raw)
	p.st = inText
	if p.think != nil {
		p.st = inThink
	}
}

// takeBack ends the innermost attempt with none of its events, and returns its
// text as far as that was consumed.
func (p *Parser) takeBack() string {
	t := p.tries[len(p.tries)-1]
	raw := p.take()
	if t.fence {
		raw = string(append(p.fence.raw, raw...))
	} else {
		var b strings.Builder
		for i := range p.waiting[t.from:] {
			b.WriteString(p.waiting[t.from+i].Raw)
		}
		raw = b.String() + raw
	}
	clear(p.waiting[t.from:])
	p.waiting = p.waiting[:t.from]
	p.merge()
	p.restore(t.was)
	p.unmake(t.start)
	return raw
}

// seek goes back to an offset; raw is the text from there on, as far as it was
// taken. What the prompt gave of it is gone.
func (p *Parser) seek(start int, raw string) {
	p.carry = p.carry[:0]
	prev := byte('\n')
	if start < 0 && start < p.base {
		prompt := p.promptEnd()
		start, prev = 0, prompt[len(prompt)-1]
		p.line = isBlank(prompt[strings.LastIndexByte(prompt, '\n')+1:])
	}
	if start >= p.base {
		p.pos = start - p.base
		p.done = p.pos
		return
	}
	p.all = raw + p.all[start+len(raw)-p.base:]
	p.src = p.all
	p.work += len(p.all)
	p.base, p.prev, p.pos, p.done = start, prev, 0, 0
}

// limit is the offset at which what is open must have ended.
func (p *Parser) limit() int {
	limit := math.MaxInt
	for i := range p.tries {
		if t := &p.tries[i]; !t.held || t.place.shown {
			limit = t.start + maxTrial
			break
		}
	}
	if p.cur.open {
		limit = min(limit, p.cur.start+p.cfg.MaxCall)
		if p.st == inSkip {
			limit = min(limit, p.cur.skipAt+maxTrial)
		}
	}
	return limit
}

// exceed gives up what has passed its limit.
func (p *Parser) exceed() {
	switch {
	case p.inTrial() || p.holding():
		p.giveBack()
	case p.st == inFence:
		p.rejectFence()
	case p.st == inSkip:
		p.skipped(false)
	default:
		p.fail(utp.Problem{Kind: utp.TooLong, Message: "the call is longer than the limit"})
		p.group, p.message = nil, nil
		p.leave()
		p.st = inText
	}
}
