package parse

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// call is the call being read.
type call struct {
	open     bool // raw text belongs to it
	counted  bool // a mere counter stands in place of its name
	pending  bool // no name yet
	g        *gram
	caps     scan.Caps // of a message's header
	closers  []scan.Marker
	name, id string
	declared bool
	started  bool
	balanced bool // complete but for its closer
	fenced   bool // the call has its own opener
	headed   bool // its object is closed; a text may follow
	direct   bool // it has none: it stands directly in its group
	plain    bool // f(…) as ordinary text: it must end its line
	ticks    int  // backquotes before its arguments, which close after them
	part     int
	start    int // offset of its first byte
	argsAt   int // offset of its arguments; noArgs before
	argsEnd  int
	raw      []byte // its text, as far as events cover it
	fixes    []utp.Fix

	buf   []byte // the arguments' JSON
	sent  int    // bytes of buf in deltas
	keys  []string
	holds bool // deltas wait: the whole object may still change
	whole bool // it will not change any more
	echo  bool // looks like a tool's definition
	args  argument
	el    *element // what reads its JSON; nil before the first call
	val   *value   // of the argument in tags; likewise

	valueAt int    // where the argument at hand begins in buf
	blank   string // what is a placeholder
	twiceAt int    // length of buf where an argument came a second time
	twice   string // what is given twice, with different values

	why    utp.Problem // what broke it
	skipAt int         // where it broke
}

const noArgs = math.MinInt

func (p *Parser) setName(name string) {
	c := &p.cur
	if clean := noTokens(name); clean != name && p.tools.declared(clean) {
		p.fix("", name, clean, "a control token in the name")
		name = clean
	}
	resolved, fix, ok := p.tools.resolve(name)
	c.name, c.declared, c.pending = name, ok, false
	if ok {
		c.name = resolved
	}
	if fix != nil {
		c.fixes = append(c.fixes, *fix)
	}
}

// fix notes a change of how the call is written.
func (p *Parser) fix(path, was, now, why string) {
	if len(was) > scan.MaxSlot {
		was = was[:scan.MaxSlot]
	}
	p.cur.fixes = append(p.cur.fixes, utp.Fix{Path: path, Was: was, Now: now, Why: why})
}

// guess notes a change that decides what the call means.
func (p *Parser) guess(path, was, now, why string) {
	p.fix(path, was, now, why)
	p.cur.fixes[len(p.cur.fixes)-1].Guess = true
}

// startCall sends EventCallStart: the name is certain and arguments begin.
func (p *Parser) startCall() {
	c := &p.cur
	if c.started || c.pending || p.isTry() {
		return
	}
	c.started, c.part = true, p.now.part()
	p.send(&utp.Event{Kind: utp.EventCallStart, Part: c.part, Call: &utp.Call{ID: c.id, Name: c.name, Source: c.g.source}, Raw: p.take()})
}

// isTry reports a call in a form of ordinary lines that names no offered tool.
func (p *Parser) isTry() bool { return p.cur.g.Line && p.tools.known() && !p.cur.declared }

// flush sends what there is of the arguments, unless it may still change.
func (p *Parser) flush() {
	c := &p.cur
	if !c.started || c.holds || p.cfg.Check && !c.whole || c.sent == len(c.buf) {
		return
	}
	text := string(c.buf[c.sent:])
	c.sent = len(c.buf)
	p.sendText(utp.EventCallDelta, c.part, text, p.take())
}

// finish ends a good call.
func (p *Parser) finish() {
	c := &p.cur
	if !c.open {
		return
	}
	if c.pending {
		p.fail(utp.Problem{Kind: utp.ProblemMissingName, Want: "the name of a tool"})
		return
	}
	if len(c.keys) == 0 && p.tools.meansNothing(c.name) && !p.tries.trying() {
		p.mark()
		p.closeCall()
		return
	}
	p.closeArgs()
	args := bytes.Clone(c.buf)
	if prob := p.judge(args); prob != nil {
		p.failJudged(*prob)
		return
	}
	out, prob := p.fitted(utp.Call{ID: c.id, Name: c.name, Args: args, Source: c.g.source, Fixes: c.fixes})
	if prob != nil {
		p.failJudged(*prob)
		return
	}
	if p.cfg.Check {
		c.buf, c.whole = append(c.buf[:0], out.Args...), true
	}
	p.startCall()
	c.holds = false
	p.flush()
	raw := p.take()
	out.RawArgs = p.rawArgs()
	p.send(&utp.Event{Kind: utp.EventCallEnd, Part: c.part, Call: &out, Raw: raw})
	p.closeCall()
	p.settleCall()
}

// failJudged ends a call that was read to its end but is none.
func (p *Parser) failJudged(prob utp.Problem) {
	said := p.cur.twice != "" || p.cur.blank != "" || p.cfg.Check && prob.Kind == utp.ProblemInvalid
	if p.tries.inTrial() && p.tries.trial().think == nil && (said && p.cur.declared || prob.Kind == utp.ProblemQuoted || prob.Kind == utp.ProblemRepeated) {
		p.accept()
	}
	trial := p.tries.trying()
	p.fail(prob)
	if !trial {
		p.closeCall()
	}
	if p.made.looped && prob.Kind == utp.ProblemRepeated {
		p.block.group, p.st = nil, inRest
	}
}

// judge finds what is wrong with a call that was read to its end.
func (p *Parser) judge(args json.RawMessage) *utp.Problem {
	c := &p.cur
	if prob := p.contradicts(); prob != nil {
		return prob
	}
	if prob := p.unfilled(); prob != nil {
		return prob
	}
	switch {
	case !c.declared && strings.ContainsAny(c.name, "<>|"):
		return &utp.Problem{Kind: utp.ProblemMissingName, Message: "a control token stands in the name", Want: "the name of a tool"}
	case c.echo:
		return &utp.Problem{Kind: utp.ProblemMalformed, Message: "a tool's definition, not a call"}
	case p.cfg.Repair == Off && len(c.fixes) > 0:
		return &utp.Problem{Kind: utp.ProblemMalformed, Message: c.fixes[0].Why}
	case p.isTry(), p.cfg.Policy.Unknown == TextUnknown && p.tools.known() && !c.declared:
		return &utp.Problem{Kind: utp.ProblemUnknownTool, Message: "no such tool was offered"}
	case p.tries.trying() && p.tries.trial().think != nil && p.tools.known() && !p.tools.sound(c.name, args):
		return &utp.Problem{Kind: utp.ProblemInvalid}
	}
	return p.repeated(&utp.Call{Name: c.name, Args: args}, c.start, func() string {
		return string(c.raw) + string(p.carry) + p.src[p.covered():p.pos]
	})
}

func (p *Parser) rawArgs() string {
	c := &p.cur
	start := max(c.start, 0)
	from, to := max(c.argsAt-start, 0), c.argsEnd-start
	if c.argsAt == noArgs || to > len(c.raw) || from > to {
		return ""
	}
	return string(c.raw[from:to])
}

// closeCall forgets the call; its group may go on.
func (p *Parser) closeCall() {
	p.now.called = true
	p.closed(trailing(p.cur.raw))
	g := p.cur.g
	p.cur.open, p.cur.started, p.cur.balanced, p.cur.pending = false, false, false, false
	p.cur.fixes, p.cur.raw = nil, p.cur.raw[:0]
	p.now.textPart = -1
	if p.block.group != nil || g.Body == grammar.JSON || g.Body == grammar.Python {
		p.st = inGap
		return
	}
	p.st = inTail
}

// fail ends the call as a Problem. Its text is text again. Inside a trial it
// ends the trial.
func (p *Parser) fail(prob utp.Problem) {
	c := &p.cur
	if prob.Kind == utp.ProblemTruncated && p.tries.trial().whole && p.cur.declared {
		p.accept() // it was going to be a call
	}
	if p.tries.trying() {
		p.giveBack()
		return
	}
	p.relax()
	p.flush()
	raw := p.take()
	prob.Grammar, prob.Offset, prob.Raw = c.g.Name, max(c.start, 0), string(c.raw)
	if prob.Name == "" && !c.pending {
		prob.Name = c.name
	}
	p.now.worded = p.now.worded || prob.Shows()
	part := c.part
	if c.started {
		if begun, waits := p.tries.unstart(part); waits {
			raw, c.started = begun+raw, false
			if p.now.nextPart == part+1 {
				p.now.nextPart = part
			}
		}
	}
	if !c.started {
		part = p.now.openPart()
	}
	p.send(&utp.Event{Kind: utp.EventProblem, Part: part, Problem: &prob, Raw: raw})
	p.closed(trailing(c.raw))
	c.open, c.started, c.balanced, c.pending = false, false, false, false
	c.fixes, c.raw = nil, c.raw[:0]
}

// broken turns the call into a Problem once its end is found. Inside a trial
// nothing was a call, but for x = f(…): that is one which cannot be evaluated.
func (p *Parser) broken(message, want string) {
	if p.tries.trying() && p.cur.el.kept {
		p.accept()
	}
	if p.tries.trying() {
		p.giveBack()
		return
	}
	p.cur.why = utp.Problem{Kind: utp.ProblemMalformed, Message: message, Want: want}
	p.cur.skipAt, p.st = p.at(), inSkip
}

// truncated ends a call that the output ended in. Where nobody says that the
// output was cut off, one that begins within a line may be a text about calls.
func (p *Parser) truncated() {
	kind := utp.ProblemTruncated
	if !p.cut && p.block.inLine && !p.tries.trying() {
		kind = utp.ProblemMalformed
	}
	p.fail(utp.Problem{Kind: kind, Message: "the output ended inside the call"})
	p.st = inText
	p.now.leave()
}
