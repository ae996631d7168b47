package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// fence is a code fence that may hold calls. It is held to its end, and its
// calls count only if nothing but more of them follows.
type fence struct {
	start  int    // offset of the first fence
	raw    []byte // all of it, to give back
	mark   string // what closes it: ``` or `
	events []utp.Event
	part   int // nextPart before
	done   bool
}

// callTags are the info words of a fence that may hold calls.
var callTags = map[string]bool{"": true, "json": true, "xml": true, "tool_code": true, "python": true, "tool_call": true}

// lineStart decides what begins at a line start, past blanks: a fence, code
// that is the whole line, or a bare form. no: nothing does.
func (p *Parser) lineStart() found {
	s := p.rest()
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	if i == len(s) {
		if p.eof {
			return no
		}
		p.pos += i
		p.text()
		return more
	}
	if p.m.lineHot[s[i]] && p.at()+i != p.noTry {
		if got := p.lineOpener(i); got != no {
			return got
		}
	}
	if p.think != nil {
		return no
	}
	if s[i] == '`' {
		return p.tick(i)
	}
	if p.at()+i == p.noTry || len(p.m.bare) == 0 || p.names == nil && p.cfg.Forced == "" || p.tried > maxTried {
		return no
	}
	return p.bareAt(i)
}

// lineOpener looks i bytes on for an opener that counts at a line start.
func (p *Parser) lineOpener(i int) found {
	p.pos += i
	got := p.open(true)
	switch got {
	case no:
		p.pos -= i
	case more:
		p.text()
	}
	return got
}

// bareAt looks for a bare form i bytes on.
func (p *Parser) bareAt(i int) found {
	s := p.rest()[i:]
	if c := s[0]; c != '{' && c != '[' && c != '(' && !isNameByte(c) {
		return no
	}
	waits := no
	for _, k := range p.m.bare {
		o := &p.m.openers[k]
		var c caps
		n, _, f := p.fit(o, s, &c)
		switch f {
		case yes:
			p.pos += i
			p.text()
			p.leave()
			p.try(true)
			p.cur = call{open: true, pending: true, g: o.g, start: p.at(), raw: p.cur.raw[:0], buf: p.cur.buf[:0]}
			p.pos += n
			p.group = nil
			p.body(o, &c)
			return yes
		case more:
			waits = more
		}
	}
	if waits == more && len(s) <= maxHead {
		p.pos += i
		p.text()
		return more
	}
	return no
}

// tick meets a backtick at a line start: a fence, or code.
func (p *Parser) tick(i int) found {
	s := p.rest()[i:]
	switch {
	case strings.HasPrefix(s, "```"):
		return p.openFence(i)
	case len(s) < 3 && strings.Trim(s, "`") == "" && !p.eof:
		p.pos += i
		p.text()
		return more
	case strings.HasPrefix(s, "``"):
		return no
	}
	if !p.fenceAllowed() || p.at()+i == p.noTry {
		return no
	}
	if len(s) == 1 && !p.eof {
		p.pos += i
		p.text()
		return more
	}
	if len(s) == 1 || s[1] == '`' || !p.mayHold(s[1:]) {
		return no
	}
	p.pos += i
	p.text()
	p.startFence("`", 1)
	return yes
}

func (p *Parser) fenceAllowed() bool { return p.m.fence != nil && p.names != nil }

// openFence reads the fence's info line and decides whether it may hold calls.
func (p *Parser) openFence(i int) found {
	s := p.rest()[i:]
	end := strings.IndexByte(s, '\n')
	if end < 0 && len(s) < maxSlot && !p.eof {
		p.pos += i
		p.text()
		return more
	}
	if end < 0 {
		end = len(s) - 1
	}
	info := strings.ToLower(strings.TrimSpace(strings.Trim(s[:end+1], "`\n")))
	body := s[end+1:]
	if callTags[info] && p.fenceAllowed() && p.at()+i != p.noTry && p.tried < maxTried {
		if body[countBlanks(body):] == "" && !p.eof && len(body) < maxHead {
			p.pos += i
			p.text()
			return more
		}
		if p.mayHold(body[countBlanks(body):]) {
			p.pos += i
			p.text()
			p.startFence("```", end+1)
			return yes
		}
	}
	p.pos += i + end + 1
	p.text()
	p.st, p.line = inCode, true
	if strings.Contains(s[3:end+1], "```") {
		p.st = inText
	}
	return yes
}

// mayHold reports whether s can begin a call.
func (p *Parser) mayHold(s string) bool {
	if s == "" {
		return false
	}
	if s[0] == '{' || s[0] == '[' || s[0] == '<' || s[0] == '(' {
		return true
	}
	n := word(s)
	return n > 0 && (p.declared(s[:n]) || n == len(s) || strings.HasPrefix(strings.TrimLeft(s[n:], " "), "="))
}

// startFence begins to hold a fence whose opener has n bytes.
func (p *Parser) startFence(mark string, n int) {
	if !p.fence.done {
		p.fence = fence{start: p.at(), raw: p.fence.raw[:0], events: p.fence.events[:0], part: p.nextPart}
	}
	p.fence.mark, p.fence.done = mark, false
	p.pos += n
	p.holdMark()
	p.st = inFence
}

// holdMark keeps what was consumed as markup of the fence.
func (p *Parser) holdMark() {
	raw := p.take()
	if raw != "" {
		p.fence.raw = append(p.fence.raw, raw...)
		p.fence.events = append(p.fence.events, utp.Event{Kind: utp.Mark, Raw: raw})
	}
}

// readFence waits for the fence's end and reads what it holds.
func (p *Parser) readFence() bool {
	f := &p.fence
	s := p.rest()
	at := strings.Index(s, f.mark)
	if f.mark == "`" {
		if nl := strings.IndexByte(s, '\n'); nl >= 0 && (at < 0 || nl < at) {
			p.rejectFence()
			return true
		}
	}
	if at < 0 && !p.eof || at >= 0 && at+len(f.mark) == len(s) && !p.eof {
		if len(s) > maxTrial {
			p.rejectFence()
			return true
		}
		return false
	}
	if at < 0 && (p.cut || f.mark == "`") {
		p.rejectFence()
		return true
	}
	end := 0
	if at < 0 {
		at = len(s)
	} else {
		end = len(f.mark)
	}
	if !p.fenceCalls(s[:at]) {
		p.rejectFence()
		return true
	}
	p.pos += at + end
	p.holdMark()
	f.done, p.st = true, inFenced
	return true
}

// fenceCalls reads a fence's content: calls only, each of a known tool with
// valid arguments.
func (p *Parser) fenceCalls(content string) bool {
	c := p.cfg
	c.Prefill, c.Forced = "", ""
	c.Grammars = inFenceGrammars(p.m)
	c.Prefer, c.Only = nil, false
	in := New(c)
	evs := append([]utp.Event(nil), in.Feed(content)...)
	evs = append(evs, in.Close(false)...)
	calls := 0
	for _, e := range evs {
		switch e.Kind {
		case utp.TextDelta, utp.ThinkDelta:
			if strings.TrimSpace(e.Text) != "" {
				return false
			}
		case utp.ProblemEvent:
			return false
		case utp.CallEnd:
			_, _, issues := p.tools().Check(e.Call.Name, e.Call.Args)
			if !p.declared(e.Call.Name) || len(issues) > 0 {
				return false
			}
			calls++
		}
	}
	if calls == 0 {
		return false
	}
	p.fence.raw = append(p.fence.raw, content...)
	for _, e := range evs {
		e.Part += p.nextPart
		if e.Problem == nil {
			p.fence.events = append(p.fence.events, e)
		}
	}
	p.nextPart += in.nextPart
	p.pos += len(content)
	p.done = p.pos
	p.pos -= len(content)
	return true
}

// inFenceGrammars is the machine's grammars with the bare forms added.
func inFenceGrammars(m *machine) []*grammar.Grammar {
	out := make([]*grammar.Grammar, 0, len(m.grams)+2)
	for _, g := range m.grams {
		if !g.fence {
			out = append(out, g.Grammar)
		}
	}
	return append(out, &bareJSON, &barePython)
}

// readFenced allows white space, closers and more such fences to the end.
func (p *Parser) readFenced() bool {
	if !p.skipBlanks() {
		p.holdMark()
		return false
	}
	s := p.rest()
	p.holdMark()
	switch {
	case s == "":
		p.acceptFence()
		return true
	case p.cfg.Policy.Quoted:
		p.acceptFence()
		return true
	case s[0] == '`' && len(s) < 3 && !p.eof:
		return false
	case strings.HasPrefix(s, "```"):
		return p.nextFence(s)
	}
	for i := range p.m.grams {
		g := p.m.grams[i]
		n, f := p.matchAny(g.skipClose, s, nil)
		if f == more && len(s) < maxSlot {
			return false
		}
		if f == yes && n > 1 {
			p.pos += n
			p.holdMark()
			return true
		}
	}
	p.rejectFence()
	return true
}

// nextFence begins another fence behind one with calls.
func (p *Parser) nextFence(s string) bool {
	end := strings.IndexByte(s, '\n')
	if end < 0 {
		if p.eof || len(s) > maxSlot {
			p.rejectFence()
			return true
		}
		return false
	}
	info := strings.ToLower(strings.TrimSpace(strings.Trim(s[:end], "`\n")))
	if !callTags[info] {
		p.rejectFence()
		return true
	}
	p.startFence("```", end+1)
	return true
}

// acceptFence sends the fences' calls.
func (p *Parser) acceptFence() {
	p.leave()
	for _, e := range p.fence.events {
		p.send(e)
	}
	p.fence.done = false
	p.st, p.line = inText, true
}

// rejectFence gives the fences back as text; inside them nothing is a call.
func (p *Parser) rejectFence() {
	f := &p.fence
	p.nextPart = f.part
	raw := string(f.raw) + p.take()
	f.done = false
	if p.textPart < 0 {
		p.textPart = p.part()
	}
	if raw != "" {
		p.send(utp.Event{Kind: utp.TextDelta, Part: p.textPart, Text: raw, Raw: raw})
	}
	inside := f.mark == "```" && p.st == inFence
	p.st, p.line = inText, false
	if inside {
		p.st = inCode
	} else if p.pos < len(p.src) && f.mark == "`" {
		p.inline = true
	}
}

// readCode passes a code fence on as text, up to its end.
func (p *Parser) readCode() bool {
	s := p.rest()
	for i := 0; i < len(s); {
		at := strings.Index(s[i:], "```")
		if at < 0 {
			break
		}
		p.pos += i + at + 3
		p.text()
		p.st, p.line = inText, false
		return true
	}
	keep := 0
	if !p.eof {
		keep = len(s) - len(strings.TrimRight(s, "`"))
	}
	p.pos = len(p.src) - min(keep, 2)
	p.text()
	return false
}
