package parse

import (
	"slices"
	"strings"
)

// readText passes text, or reasoning, on up to the next opener. Nothing is held
// back but what may still become a marker.
func (p *Parser) readText() bool {
	if p.ended() {
		return false
	}
	if p.at() == 0 && p.promptEnd() == "" && p.byteOrderMark() == more {
		return false
	}
	if p.line {
		if got := p.lineStart(); got != no {
			return p.decided(got)
		}
	}
	s, from := p.src, p.pos // from: where the line began, if p.line
	for i := p.pos; i < len(s); i++ {
		if p.sentence && s[i] == '{' {
			p.pos, p.line = i, p.line && isBlank(s[from:i])
			if got := p.openSentence(); got != no {
				return p.decided(got)
			}
		}
		if !p.m.mayBegin(s, i) || p.midWord(s, i) {
			continue
		}
		p.line = p.line && isBlank(s[from:i])
		got := no
		switch s[i] {
		case '\n':
			p.pos, from = i+1, i+1
			if p.holding() {
				p.text() // words decide before the next line is looked at
			}
			p.line, p.inline = true, false
			got = p.lineStart()
		case '`':
			if p.anywhere {
				continue
			}
			p.pos = i
			got = p.backquote()
			i = max(i, p.pos-1)
		case '~': // a fence of tildes begins its line
			if !p.line || p.anywhere {
				continue
			}
			p.pos = i
			got = p.tick()
		default:
			p.pos = i
			got = p.open(p.line)
		}
		if got != no {
			return p.decided(got)
		}
	}
	p.line = p.line && isBlank(s[from:])
	p.pos = p.wholeRunes()
	p.text()
	return false
}

// midWord reports whether a letter stands at s[i] behind another: markers that
// begin with a letter begin a word.
func (p *Parser) midWord(s string, i int) bool {
	if !isASCIILetter(s[i]) {
		return false
	}
	if i == 0 {
		return isASCIILetter(p.prev)
	}
	return isASCIILetter(s[i-1])
}

func isASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// byteOrderMark passes over one at the start of the output.
func (p *Parser) byteOrderMark() found {
	n, f := matchLiteral(p.rest(), "\ufeff")
	if f == yes {
		p.pos += n
		p.mark()
	}
	if f == more && p.end {
		return no
	}
	return f
}

// decided goes on, or passes on the text before what cannot be decided yet.
func (p *Parser) decided(got found) bool {
	if got == more {
		p.text()
	}
	return got == yes
}

func isBlank(s string) bool {
	for i := range len(s) {
		if s[i] != ' ' && s[i] != '\t' {
			return false
		}
	}
	return true
}

// lineStart decides what begins at a line start, past blanks: a fence, code
// that is the whole line, or a bare form. no: nothing does.
func (p *Parser) lineStart() found {
	i := p.pos
	for i < len(p.src) && (p.src[i] == ' ' || p.src[i] == '\t') {
		i++
	}
	if i == len(p.src) {
		if p.end {
			return no
		}
		p.pos = i
		return more
	}
	if !p.anywhere {
		was := p.pos
		p.pos = i
		if got := p.turn(); got != no {
			return got
		}
		p.pos = was
	}
	if at := p.base + i; !p.m.start[p.src[i]] || at < p.noBare || at == p.noTry {
		return no
	}
	was := p.pos
	p.pos = i
	got := p.lineOpener(p.src[i])
	if got == no {
		p.pos = was
	}
	return got
}

// lineOpener looks for what counts at a line start only.
func (p *Parser) lineOpener(c byte) found {
	if p.m.lineHot[c] || p.prefersAt(c) {
		if got := p.open(true); got != no {
			return got
		}
	}
	switch {
	case p.think != nil:
		return no
	case (c == '`' || c == '~') && p.anywhere:
		return no
	case c == '`' || c == '~':
		return p.tick()
	case p.message != nil, p.inTrial(): // text, as its header says; or what follows a call inside thinking
		return no
	case len(p.m.bare) == 0 || p.tools == nil && p.cfg.Forced == "" || p.tried > maxTried:
		return no
	}
	if f := p.programLine(p.view()); f == more {
		return more
	}
	return p.bare()
}

// prefersAt reports whether calls of a preferred grammar may begin with c: it
// goes before the bare forms that begin so too.
func (p *Parser) prefersAt(c byte) bool {
	leads := func(m marker) bool { return m.lead != "" && m.begins(c) }
	return slices.ContainsFunc(p.preferred, func(g *gram) bool {
		return slices.ContainsFunc(g.group.open, leads) || slices.ContainsFunc(g.call.open, leads)
	})
}

// bare looks for a bare form.
func (p *Parser) bare() found {
	v := p.view()
	if p.program && startsName(strings.TrimLeft(v.s, "[ \t\r\n")) {
		return no
	}
	if isNameByte(v.s[0]) {
		if f := p.bareWord(v); f != yes {
			return f
		}
	}
	waits := no
	for _, k := range p.bareFor(v.s) {
		o := &p.m.openers[k]
		var c caps
		n, _, f := p.fit(o, v, &c)
		switch {
		case f == more:
			waits = more
		case f == yes && waits == no:
			p.beginBare(o, n, c, plainly)
			return yes
		}
	}
	return waits
}

// bareFor lists the bare openers in the order to try them: an object, or a list
// of them, is read by a grammar of JSON if there is one.
func (p *Parser) bareFor(s string) []int {
	if s = strings.TrimLeft(s, "[ \t\r\n"); s != "" && s[0] == '{' && len(p.m.bareJSON) > 0 {
		return p.m.bareJSON
	}
	return p.m.bare
}

// bareWord reports whether what stands behind the word at the start of v can
// follow the name of a tool.
func (p *Parser) bareWord(v view) found {
	n := 0
	for n < len(v.s) && !slotEnds[v.s[n]] {
		if n++; n > maxSlot {
			return no
		}
	}
	_, next := v.from(n).blanks()
	if next.s == "" {
		if v.end {
			return yes
		}
		return v.ask()
	}
	if p.m.follow[next.s[0]] || next.s[0] == 0xC4 {
		return yes
	}
	return no
}

// beginBare begins a form without a marker, as a trial.
func (p *Parser) beginBare(o *opener, n int, c caps, m manner) {
	p.text()
	p.tryCall(true, p.placeOf(m))
	p.leave()
	p.block, p.inLine = p.at(), false
	p.openCall(o.g)
	p.pos += n
	p.group, p.lists = nil, 0
	p.body(o, c)
}

// backquote meets backquotes in a line: a fence, or the edge of code.
func (p *Parser) backquote() found {
	if p.think != nil {
		return no
	}
	s := p.rest()
	n := ticks(s)
	if n == len(s) && n < maxSlot && !p.end {
		return more
	}
	if b := p.before(); n >= 3 && !p.inline && (p.line || b == ' ' || b == '\t') {
		return p.openFence()
	}
	p.pos += n
	p.inline = p.inline != (n%2 == 1)
	return no
}

// ticks counts the backquotes, or the tildes, that s begins with.
func ticks(s string) (n int) {
	for n < len(s) && s[n] == s[0] && (s[0] == '`' || s[0] == '~') {
		n++
	}
	return n
}

// before is the byte in front of the text not consumed yet.
func (p *Parser) before() byte {
	if p.pos > 0 {
		return p.src[p.pos-1]
	}
	return p.prev
}

// tick meets a backquote at a line start: a fence, or code that is the whole line.
func (p *Parser) tick() found {
	v := p.view()
	n := ticks(v.s)
	switch {
	case n == len(v.s):
		return v.ask()
	case n >= 3:
		return p.openFence()
	case n > 1 || v.s[0] == '~' || !p.fenceAllowed():
		return no
	}
	f := p.mayHold(v.from(1))
	if f == yes {
		p.text()
		p.startFence("`", 1)
	}
	return f
}
