package parse

import (
	"math"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

const (
	maxTrial = 64 << 10 // bytes held back for one trial
	maxTried = 1 << 20  // bytes read twice in one reply; then there are no more trials
)

// trial is a reading that may turn out not to be a call: its events wait.
type trial struct {
	on     bool
	think  *gram // it stands inside thinking
	bare   bool  // a form that is ordinary text unless a tool is named
	whole  bool  // it is held until the call has ended
	mused  bool  // the call has ended, the thinking around it may not have
	start  int   // offset of its first byte
	events []utp.Event
	called bool // before
	part   int  // nextPart before
	text   int  // textPart before
}

func (p *Parser) try(bare bool) {
	p.trial = trial{on: true, think: p.think, bare: bare, start: p.at(), called: p.called, part: p.nextPart, text: p.textPart, events: p.trial.events[:0]}
}

// trying reports whether a call is being read that may turn out to be none.
func (p *Parser) trying() bool { return p.trial.on && !p.trial.mused }

// settleCall accepts the call of a trial that was read to its end. Inside thinking
// that is decided where the thinking closes, which makes it thought, or the text
// ends.
func (p *Parser) settleCall() {
	if p.trying() && p.trial.think != nil {
		p.trial.mused = true
		return
	}
	if p.trying() {
		p.commit()
	}
}

// thought takes calls back that stood inside thinking which closes here.
func (p *Parser) thought() {
	p.closes = p.at()
	p.reject()
}

// commit accepts the trial: its events are sent.
func (p *Parser) commit() {
	if !p.trial.on {
		return
	}
	p.trial.on, p.trial.mused = false, false
	p.out = append(p.out, p.trial.events...)
	clear(p.trial.events)
}

// reject gives the trial's bytes back; they are read again as plain text.
func (p *Parser) reject() {
	if !p.trial.on {
		return
	}
	t := &p.trial
	t.on, t.mused = false, false
	p.cur.open, p.group = false, nil
	tried := p.at() - t.start
	p.rewind(tried)
	clear(t.events)
	p.noBare, p.noTry = t.start+tried, t.start
	p.tried += tried
	p.nextPart, p.textPart, p.think, p.called = t.part, t.text, t.think, t.called
	p.st = inText
	if p.think != nil {
		p.st = inThink
	}
}

// rewind goes back n bytes, to the start of the trial.
func (p *Parser) rewind(n int) {
	var b strings.Builder
	if n > p.pos {
		for i := range p.trial.events {
			b.WriteString(p.trial.events[i].Raw)
		}
		b.WriteString(p.take())
	}
	p.giveBack(p.trial.start, b.String())
}

// giveBack goes back to an offset; raw is the text from there on, as far as it
// was taken.
func (p *Parser) giveBack(start int, raw string) {
	p.carry = p.carry[:0]
	prev := byte('\n')
	if start < 0 && start < p.base { // the prompt's part is gone
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

// limit is the offset at which an open call or trial must have ended.
func (p *Parser) limit() int {
	limit := math.MaxInt
	if p.trial.on {
		limit = p.trial.start + maxTrial
	}
	if p.st == inFence || p.st == inFenced {
		limit = min(limit, p.fence.start+maxTrial)
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
	case p.trial.on:
		p.reject()
	case p.st == inFence || p.st == inFenced:
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
