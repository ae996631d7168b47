package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// fence is a code fence that may hold calls. It is held to its end.
type fence struct {
	mark   string // what opens and closes it: `, or three or more ` or ~
	raw    []byte // what was taken from the first fence on
	in     *Parser
	prompt int // bytes of the prompt that no event of in covers yet
	calls  int
	depth  int // of the fences within it, if it holds no calls
}

// callTags are the info words of a fence that may hold calls. Those that say so are
// markers of a dialect's own.
var callTags = map[string]manner{
	"": fenced, "json": fenced, "xml": fenced, "python": fenced, "py": fenced,
	"tool_code": marked, "tool_call": marked, "tool_calls": marked, "tools_call": marked, "function_call": marked,
}

// mayHoldCalls reports whether a fence with an info word may hold calls.
func mayHoldCalls(word string) bool { return callTags[strings.ToLower(word)] != surely }

func (p *Parser) fenceAllowed() bool {
	if p.now.fenced {
		p.text()
	}
	later := p.now.fenced && p.now.sofar.words > 0
	return p.m.fence != nil && p.tools.known() && !later && !p.tries.inTrial() && !p.tried.spent() && p.at() != p.tried.opener
}

// openFence decides whether a code fence may hold calls.
func (p *Parser) openFence() scan.Found {
	v := p.view()
	n, f := p.fenceHead(v)
	switch f {
	case scan.Yes:
		p.text()
		p.startFence(v.S[:ticks(v.S)], n)
	case scan.No:
		n := ticks(v.S)
		p.code(v.S[:n])
		p.pos += n
		p.text()
		f = scan.Yes
	}
	return f
}

// fenceHead is the length of a fence's opener, if calls may stand after it.
func (p *Parser) fenceHead(v scan.View) (int, scan.Found) {
	if !p.fenceAllowed() {
		return 0, scan.No
	}
	n := ticks(v.S)
	to := n + scan.Word(v.S[n:])
	if to == len(v.S) {
		return 0, v.Ask()
	}
	if !mayHoldCalls(v.S[n:to]) {
		return 0, scan.No
	}
	_, inner := v.From(to).Blanks()
	return to, p.mayHold(inner)
}

// mayHold reports whether v can begin a call.
func (p *Parser) mayHold(v scan.View) scan.Found {
	if v.S == "" {
		return v.Ask()
	}
	if strings.IndexByte("{[<(", v.S[0]) >= 0 {
		return scan.Yes
	}
	if f := p.mayOpen(v); f != scan.No {
		return f
	}
	n := scan.Word(v.S)
	if n == len(v.S) {
		return v.Ask()
	}
	_, next := v.From(n).Blanks()
	if next.S == "" {
		return v.Ask()
	}
	if n > 0 && (next.S[0] == '=' || p.tools.plainly(v.S[:n]) || v.S[:n] == "print" && next.S[0] == '(') {
		return scan.Yes
	}
	return scan.No
}

// mayOpen reports whether v can begin a call with markers that begin with letters, or
// with labels: "# Tool: x" and "# Arguments:" below it.
func (p *Parser) mayOpen(v scan.View) scan.Found {
	cand, short := p.m.trie.Leads(p.cand[:0], v.S)
	cand = slices.DeleteFunc(cand, func(i int32) bool {
		o := &p.m.openers[i]
		return o.kind != openCall || o.declared && !(o.named && o.labelled())
	})
	p.cand = cand
	var best choice
	if p.choose(&best, v, cand, true); best.state != scan.No {
		return best.state
	}
	if short {
		return v.Ask()
	}
	return scan.No
}

// startFence begins to hold a fence whose opener has n bytes.
func (p *Parser) startFence(mark string, n int) {
	at := p.placeOf(callTags[strings.ToLower(p.rest()[len(mark):n])])
	if mark == "`" {
		at = p.placeOf(coded)
	}
	p.joins(at)
	p.try(attempt{fence: true, place: at})
	p.fence = fence{mark: strings.Clone(mark), raw: p.fence.raw[:0]}
	p.block.start = p.at()
	f, c := &p.fence, *p.cfg
	c.Prefill, c.Forced, c.Seen = "", "", nil
	f.in, _ = newParser(c, p.m.inside(), fenceText)
	p.pos += n
	p.holdMark()
	p.st = inFence
}

// holdMark keeps what was consumed as markup of the fence.
func (p *Parser) holdMark() {
	if raw := p.holdRaw(); raw != "" {
		p.sendText(utp.EventMark, 0, "", raw)
	}
}

func (p *Parser) holdRaw() string {
	raw := p.take()
	p.fence.raw = append(p.fence.raw, raw...)
	return raw
}

// readFence reads what a fence holds, up to its end.
func (p *Parser) readFence() bool {
	f, s := &p.fence, p.rest()
	at := strings.IndexAny(s, "`\n")
	if f.mark != "`" {
		at = strings.IndexByte(s, f.mark[0])
	}
	switch {
	case s == "":
		return p.closeFence(!p.cut && f.mark != "`", 0)
	case at < 0:
		return p.fenceText(len(s))
	case at > 0:
		return p.fenceText(at)
	case s[0] == '\n':
		p.rejectFence()
		return true
	}
	n := ticks(s)
	if n == len(s) && n < len(f.mark) && !p.end {
		return false
	}
	if n < len(f.mark) || f.in.inString() || f.opensString() {
		return p.fenceText(n)
	}
	return p.closeFence(true, len(f.mark))
}

// fenceText gives n bytes to the reader of the fence's content. A first thing
// that is no call ends the hold.
func (p *Parser) fenceText(n int) bool {
	s := p.rest()[:n]
	p.fence.prompt += min(n, max(-p.at(), 0))
	p.pos += n
	p.holdRaw()
	if !p.fenceEvents(p.fence.in.feed(s)) {
		p.rejectFence()
	}
	return true
}

// fenceEvents keeps what a fence holds; it reports false at what may not stand
// in one: anything but calls, each of a known tool, and with valid arguments unless
// the fence says that it holds calls.
func (p *Parser) fenceEvents(evs []utp.Event) bool {
	f := &p.fence
	for _, e := range evs {
		switch e.Kind {
		case utp.EventText, utp.EventThink:
			if strings.TrimSpace(e.Text) != "" {
				return false
			}
		case utp.EventProblem:
			return false
		case utp.EventCallEnd:
			if own := p.tries.last().place.manner == marked && p.tools.declared(e.Call.Name); !own && !p.tools.sound(writtenName(e.Call), e.Call.Args) {
				return false
			}
			if p.repeated(e.Call, p.tries.last().start, f.text) != nil {
				return false
			}
			f.calls++
		}
		told := min(f.prompt, len(e.Raw))
		e.Raw = e.Raw[told:]
		f.prompt -= told
		e.Call = p.inDialect(e.Call)
		e.Part += p.now.nextPart
		p.send(&e)
	}
	return true
}

// inDialect is a call of bare JSON as one of the dialect that writes it in a
// fence, where that is said to be the model's.
func (p *Parser) inDialect(c *utp.Call) *utp.Call {
	if c == nil || c.Source != "text:"+bareJSON.Name {
		return c
	}
	for _, name := range p.cfg.Prefer {
		for _, g := range p.preferred {
			if g.fence && preferred(g.Grammar, []string{name}) {
				own := *c
				own.Source = g.source
				return &own
			}
		}
	}
	return c
}

// writtenName is the name that the model wrote: an alias has defaults of its own.
func writtenName(c *utp.Call) string {
	for _, f := range c.Fixes {
		if f.Path == "" && f.Now == c.Name {
			return f.Was
		}
	}
	return c.Name
}

// inString reports whether the text stands inside a value, where a fence's
// mark is content.
func (p *Parser) inString() bool {
	switch p.st {
	case inElement:
		return p.cur.el.r.InString()
	case inValue, inNest:
		return true
	}
	return false
}

// opensString reports whether a quote stands before the mark: the mark is the
// beginning of a string's content.
func (f *fence) opensString() bool {
	n := len(f.raw)
	return n > 0 && (f.raw[n-1] == '"' || f.raw[n-1] == '\'')
}

// text is what was taken of the fence after its opener.
func (f *fence) text() string {
	text := string(f.raw)
	if rest, opened := strings.CutPrefix(text, f.mark); opened {
		text = rest[scan.Word(rest):]
	}
	return strings.Trim(text, "`~ \t\r\n")
}

// closeFence ends a fence with n bytes of mark.
func (p *Parser) closeFence(good bool, n int) bool {
	f := &p.fence
	if !good || !p.fenceEvents(f.in.close(false)) || f.calls == 0 {
		p.rejectFence()
		return true
	}
	p.now.nextPart += f.in.now.nextPart
	p.pos += n
	p.holdMark()
	f.in = nil
	p.toText()
	p.now.called, p.cur.g, p.st = true, p.m.fence, inTail
	p.closed(0)
	t := p.tries.last()
	t.fence = false
	if t.place.opens && t.place.manner == fenced && !t.place.shown {
		p.now.fenced, t.place = true, place{}
	}
	p.accept()
	return true
}

// rejectFence gives the fence back, to read it as code.
func (p *Parser) rejectFence() {
	p.fence.in = nil
	start := p.tries.last().start
	p.giveBack()
	p.code(p.fence.mark)
	p.pos += max(start+len(p.fence.mark)-p.at(), 0) // what of the mark stands in the prompt is gone
	p.text()
}

// opensCode reports whether v, after a fence's mark, says what code it holds.
func opensCode(v scan.View) scan.Found {
	n := scan.Word(v.S)
	if n == len(v.S) {
		return v.Ask()
	}
	if n > 0 && mayHoldCalls(v.S[:n]) && (v.S[n] == '\n' || v.S[n] == '\r') {
		return scan.Yes
	}
	return scan.No
}

// code goes on in the code that a mark of backquotes opens.
func (p *Parser) code(mark string) {
	p.st, p.now.line, p.now.inline = inText, false, len(mark) < 3
	if len(mark) >= 3 {
		p.fence.mark, p.fence.depth, p.st = strings.Clone(mark), 0, inCode
	}
}

// readCode passes a code fence on as text, up to its end. A fence in it that says
// what it holds is text as well, up to its own end.
func (p *Parser) readCode() bool {
	s, mark := p.rest(), p.fence.mark
	if at := strings.Index(s, mark); at >= 0 {
		p.pos += at
		inner := scan.No
		if p.before() == '\n' {
			inner = opensCode(p.viewAt(p.pos + len(mark)))
		}
		if inner == scan.More {
			p.text()
			return false
		}
		p.pos += len(mark)
		p.text()
		switch {
		case inner == scan.Yes:
			p.fence.depth++
		case p.fence.depth > 0:
			p.fence.depth--
		default:
			p.st, p.now.line = inText, false
		}
		return true
	}
	to := p.wholeRunes()
	if !p.end {
		to -= min(len(s)-len(strings.TrimRight(s, mark[:1])), len(mark)-1)
	}
	p.pos = to
	p.text()
	return false
}
