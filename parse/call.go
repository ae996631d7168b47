package parse

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// call is the call being read.
type call struct {
	open     bool // raw text belongs to it
	pending  bool // no name yet
	g        *gram
	caps     caps
	name, id string
	declared bool
	started  bool
	balanced bool // complete but for its closer
	fenced   bool // the call has its own opener
	direct   bool // it has none: it stands directly in its group
	part     int
	start    int // offset of its first byte
	argsAt   int // offset of its arguments, -1 before
	argsEnd  int
	raw      []byte // its text, as far as events cover it
	fixes    []utp.Fix

	buf   []byte // the arguments' JSON
	sent  int    // bytes of buf in deltas
	keys  []string
	holds bool // deltas wait: the whole object may still change
	echo  bool // looks like a tool's definition
	args  argument

	why    utp.Problem // what broke it
	skipAt int         // where it broke
}

func (p *Parser) setName(name string) {
	c := &p.cur
	resolved, fix, ok := p.resolve(name)
	c.name, c.declared, c.pending, c.argsAt = name, ok, false, -1
	if ok {
		c.name = resolved
	}
	if fix != nil {
		c.fixes = append(c.fixes, *fix)
	}
}

func (p *Parser) fix(path, was, now, why string) {
	if len(was) > maxSlot {
		was = was[:maxSlot]
	}
	p.cur.fixes = append(p.cur.fixes, utp.Fix{Path: path, Was: was, Now: now, Why: why})
}

// startCall sends CallStart: the name is certain and arguments begin.
func (p *Parser) startCall() {
	c := &p.cur
	if c.started || c.pending {
		return
	}
	c.started, c.part = true, p.part()
	p.emit(utp.Event{Kind: utp.CallStart, Part: c.part, Call: &utp.Call{ID: c.id, OrigID: c.id, Name: c.name, Source: "text:" + c.g.Name}})
}

// flush sends what there is of the arguments, unless it may still change.
func (p *Parser) flush() {
	c := &p.cur
	if !c.started || c.holds || c.sent == len(c.buf) {
		return
	}
	text := string(c.buf[c.sent:])
	c.sent = len(c.buf)
	p.emit(utp.Event{Kind: utp.CallDelta, Part: c.part, Text: text})
}

// finish ends a good call.
func (p *Parser) finish() {
	c := &p.cur
	if !c.open {
		return
	}
	if c.pending {
		p.fail(utp.Problem{Kind: utp.MissingName, Want: "the name of a tool"})
		return
	}
	p.closeArgs()
	if prob := p.judge(); prob != nil {
		p.fail(*prob)
		return
	}
	p.startCall()
	c.holds = false
	p.flush()
	raw := p.take()
	out := utp.Call{ID: c.id, OrigID: c.id, Name: c.name, Args: json.RawMessage(strings.Clone(string(c.buf))),
		RawArgs: p.rawArgs(), Source: "text:" + c.g.Name, Fixes: c.fixes}
	p.send(utp.Event{Kind: utp.CallEnd, Part: c.part, Call: &out, Raw: raw})
	p.closeCall()
	p.commit()
}

// judge finds what is wrong with a call that was read to its end.
func (p *Parser) judge() *utp.Problem {
	c := &p.cur
	switch {
	case c.echo:
		return &utp.Problem{Kind: utp.Malformed, Message: "a tool's definition, not a call"}
	case p.cfg.Repair == Off && len(c.fixes) > 0:
		return &utp.Problem{Kind: utp.Malformed, Message: c.fixes[0].Why}
	case p.cfg.Policy.Unknown == TextUnknown && p.names != nil && !c.declared:
		return &utp.Problem{Kind: utp.UnknownTool, Message: "no such tool was offered"}
	case p.quoted():
		return &utp.Problem{Kind: utp.Quoted, Message: "it stands in a tool result"}
	case p.trial.on && p.trial.think != nil && !p.sound():
		return &utp.Problem{Kind: utp.Invalid}
	}
	return nil
}

// sound reports whether a call inside thinking is one: a known tool with valid
// arguments, where tools are known.
func (p *Parser) sound() bool {
	if p.names == nil {
		return true
	}
	_, _, issues := p.tools().Check(p.cur.name, p.cur.buf)
	return p.cur.declared && len(issues) == 0
}

// quoted reports whether the call's text stands in a tool result.
func (p *Parser) quoted() bool {
	if len(p.cfg.Seen) == 0 || p.cfg.Policy.Quoted {
		return false
	}
	raw := strings.TrimSpace(string(p.cur.raw) + string(p.carry) + p.src[p.done:p.pos])
	for _, s := range p.cfg.Seen {
		if strings.Contains(s, raw) {
			return true
		}
	}
	return false
}

func (p *Parser) rawArgs() string {
	c := &p.cur
	from, to := c.argsAt-c.start, c.argsEnd-c.start
	if c.argsAt < 0 || from < 0 || to > len(c.raw) || from > to {
		return ""
	}
	return string(c.raw[from:to])
}

// closeCall forgets the call; its group may go on.
func (p *Parser) closeCall() {
	g := p.cur.g
	p.cur.open, p.cur.started, p.cur.balanced, p.cur.pending = false, false, false, false
	p.cur.fixes, p.cur.raw = nil, p.cur.raw[:0]
	p.textPart = -1
	if p.group != nil || g.Body == grammar.JSON || g.Body == grammar.Python {
		p.st = inGap
		return
	}
	p.st = inTail
}

// fail ends the call as a Problem. Its text is text again. Inside a trial it
// ends the trial.
func (p *Parser) fail(prob utp.Problem) {
	c := &p.cur
	if p.trial.on {
		p.reject()
		return
	}
	raw := p.take()
	prob.Grammar, prob.Offset, prob.Raw = c.g.Name, c.start, string(c.raw)
	if prob.Name == "" && !c.pending {
		prob.Name = c.name
	}
	part := c.part
	if !c.started {
		if p.textPart < 0 {
			p.textPart = p.part()
		}
		part = p.textPart
	}
	p.send(utp.Event{Kind: utp.ProblemEvent, Part: part, Problem: &prob, Raw: raw})
	c.open, c.started, c.balanced, c.pending = false, false, false, false
	c.fixes, c.raw = nil, c.raw[:0]
}

// broken turns the call into a Problem once its end is found.
func (p *Parser) broken(message, want string) {
	if p.trial.on {
		p.reject()
		return
	}
	p.cur.why = utp.Problem{Kind: utp.Malformed, Message: message, Want: want}
	p.cur.skipAt, p.st = p.at(), inSkip
}

// truncated ends a call that the output ended in.
func (p *Parser) truncated() {
	p.fail(utp.Problem{Kind: utp.Truncated, Message: "the output ended inside the call"})
	p.st = inText
	p.leave()
}

// readSkip looks for the end of a broken call: its closer, or the next call.
func (p *Parser) readSkip() bool {
	g, s := p.cur.g, p.rest()
	for i := 0; i < len(s); i++ {
		if !g.skipHot[s[i]] {
			continue
		}
		n, own := p.matchAny(g.call.close, s[i:], nil)
		k, outer := p.matchAny(g.group.close, s[i:], nil)
		_, next := p.matchAny(g.skipOpen, s[i:], nil)
		switch {
		case own == yes:
			p.pos += i + n
			p.skipped(true)
			return true
		case outer == yes && k > 1:
			p.pos += i + k
			p.skipped(false)
			return true
		case next == yes:
			p.pos += i
			p.skipped(true)
			return true
		case own == more || outer == more || next == more:
			p.pos += i
			return p.skipTooFar()
		}
	}
	p.pos = len(p.src)
	if p.eof {
		p.skipped(false)
		return true
	}
	return p.skipTooFar()
}

// skipTooFar gives up the search for the end of a broken call.
func (p *Parser) skipTooFar() bool {
	if p.at()-p.cur.skipAt < maxTrial {
		return false
	}
	p.skipped(false)
	return true
}

// skipped reports the broken call and goes on behind it: in its group, if that
// is still open.
func (p *Parser) skipped(inside bool) {
	prob := p.cur.why
	if p.eof && p.pos == len(p.src) && p.cut {
		prob = utp.Problem{Kind: utp.Truncated, Message: "the output ended inside the call"}
	}
	inGroup := p.group != nil
	p.fail(prob)
	p.leave()
	p.st = inText
	if inside && inGroup {
		p.st = inGap
	} else {
		p.group = nil
	}
}
