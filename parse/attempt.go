package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// try begins an attempt.
func (p *Parser) try(a attempt) {
	a.start, a.from, a.was = p.at(), len(p.tries.waiting), *p.now
	p.tries.open = append(p.tries.open, a)
}

// tryCall begins to read what may turn out to be no call.
func (p *Parser) tryCall(bare bool, at place) {
	p.joins(at)
	p.try(attempt{think: p.now.think, bare: bare, place: at})
}

// settleCall accepts the call of a trial that was read to its end. Inside thinking
// that is decided where the thinking closes, which makes it thought, or the text
// ends.
func (p *Parser) settleCall() {
	switch {
	case !p.tries.trying():
	case p.tries.trial().think != nil:
		p.tries.trial().mused = true
	default:
		p.accept()
	}
}

// thought takes calls back that stood inside thinking which closes here.
func (p *Parser) thought() {
	p.tried.thought = p.at()
	for len(p.tries.open) > 1 && p.tries.open[len(p.tries.open)-2].mused {
		p.tries.merge()
	}
	p.giveBack()
}

// giveBack takes the innermost attempt back: its text is read again as plain text.
// What it read through is not tried again, but for the line on which a call f(…)
// broke: such a call ends with its line.
func (p *Parser) giveBack() {
	if len(p.tries.open) == 0 {
		return
	}
	start := p.tries.last().start
	p.tried.bare, p.tried.opener = p.at(), start
	p.tried.bytes += p.at() - start
	raw := p.takeBack()
	if p.reads == othersText {
		p.tried.bare = start + 1
	} else if p.cur.plain {
		p.tried.bare = start + strings.LastIndexByte(raw, '\n') + 1
	}
	p.seek(start, raw)
}

// takeBack ends the innermost attempt with none of its events, and returns its
// text as far as that was consumed.
func (p *Parser) takeBack() string {
	p.cur.open, p.block.group = false, nil
	raw := p.take()
	t, sent := p.tries.take()
	if t.fence {
		sent = string(p.fence.raw)
	}
	p.restore(t.was)
	p.made.forget(t.start)
	p.st = inText
	return sent + raw
}

// seek goes back to an offset; raw is the text from there on, as far as it was
// taken. What the prompt gave of it is gone.
func (p *Parser) seek(start int, raw string) {
	prev := byte('\n')
	if start < 0 && start < p.base {
		prompt := p.promptEnd()
		start, prev = 0, prompt[len(prompt)-1]
		p.now.line = isBlank(prompt[strings.LastIndexByte(prompt, '\n')+1:])
	}
	p.uncover(start, raw, prev)
}

// exceed gives up what has passed its limit.
func (p *Parser) exceed() {
	switch {
	case p.st == inSkip && !p.tries.inTrial():
		p.skipped(false)
	case p.tries.inTrial() || p.tries.holding():
		p.giveBack()
	case p.st == inFence:
		p.rejectFence()
	default:
		p.fail(utp.Problem{Kind: utp.ProblemTooLong, Message: "the call is longer than the limit"})
		p.block.group, p.now.message = nil, nil
		p.now.leave()
		p.st = inText
	}
}

// restore goes back to a moment. Parts of native calls that came since keep their
// numbers.
func (p *Parser) restore(m moment) {
	if p.through != nil && len(p.through.parts) > 0 {
		m.nextPart = p.now.nextPart
	}
	*p.now = m
}

// limit is the offset at which what is open must have ended.
func (p *Parser) limit() int {
	limit := p.tries.limit()
	if p.cur.open {
		limit = min(limit, p.cur.start+p.cfg.MaxCall)
		if p.st == inSkip {
			limit = min(limit, p.cur.skipAt+maxTrial)
		}
	}
	return limit
}
