package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// readText passes text, or reasoning, on up to the next opener. Nothing is held
// back but what may still become a marker.
func (p *Parser) readText() bool {
	if p.ended() {
		return false
	}
	if p.at() == 0 && p.promptEnd() == "" && p.byteOrderMark() == scan.More {
		return false
	}
	if p.now.line {
		if got := p.lineStart(); got != scan.No {
			return p.decided(got)
		}
	}
	s, from := p.src, p.pos // from: where the line began, if p.line
	for i := p.pos; ; i++ {
		at := i
		if i = p.m.starts.Next(s, i, p.prev); p.sentence {
			i = braceIn(s, at, i)
		}
		if i >= len(s) {
			break
		}
		p.now.line = p.now.line && isBlank(s[from:i])
		got := scan.No
		if s[i] == '{' && p.sentence {
			p.pos = i
			if got = p.openSentence(); got != scan.No {
				return p.decided(got)
			}
			if !p.m.starts.Has('{') {
				continue
			}
		}
		switch s[i] {
		case '\n':
			p.pos, from = i+1, i+1
			if p.tries.holding() {
				p.text() // words decide before the next line is looked at
			}
			p.now.line, p.now.inline = true, false
			got = p.lineStart()
		case '`':
			switch {
			case p.reads == othersText:
				continue
			case loneTick(s, i) && p.now.think == nil:
				p.pos, p.now.inline = i+1, !p.now.inline
				continue
			}
			p.pos = i
			got = p.backquote()
			i = max(i, p.pos-1)
		case '~': // a fence of tildes begins its line
			if !p.now.line || p.reads == othersText {
				continue
			}
			p.pos = i
			got = p.tick()
		default:
			p.pos = i
			got = p.open(p.now.line)
		}
		if got != scan.No {
			return p.decided(got)
		}
	}
	p.now.line = p.now.line && isBlank(s[from:])
	p.pos = p.wholeRunes()
	p.text()
	return false
}

// braceIn is where the first brace stands in s[from:to]; to if there is none.
func braceIn(s string, from, to int) int {
	if n := strings.IndexByte(s[min(from, to):to], '{'); n >= 0 {
		return from + n
	}
	return to
}

// byteOrderMark passes over one at the start of the output.
func (p *Parser) byteOrderMark() scan.Found {
	n, f := scan.MatchLiteral(p.rest(), "\ufeff")
	if f == scan.Yes {
		p.pos += n
		p.mark()
	}
	if f == scan.More && p.end {
		return scan.No
	}
	return f
}

// decided goes on, or passes on the text before what cannot be decided yet.
func (p *Parser) decided(got scan.Found) bool {
	if got == scan.More {
		p.text()
	}
	return got == scan.Yes
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
func (p *Parser) lineStart() scan.Found {
	i := p.pos
	for i < len(p.src) && (p.src[i] == ' ' || p.src[i] == '\t') {
		i++
	}
	if i == len(p.src) {
		if p.end {
			return scan.No
		}
		p.pos = i
		return scan.More
	}
	if p.m.chat.hot[p.src[i]] && p.reads != othersText {
		was := p.pos
		p.pos = i
		if got := p.turn(); got != scan.No {
			return got
		}
		p.pos = was
	}
	if at := p.base + i; !p.m.start[p.src[i]] || at < p.tried.bare || at == p.tried.opener {
		return scan.No
	}
	was := p.pos
	p.pos = i
	got := p.lineOpener(p.src[i])
	if got == scan.No {
		p.pos = was
	}
	return got
}

// lineOpener looks for what counts at a line start only.
func (p *Parser) lineOpener(c byte) scan.Found {
	if p.m.lineHot[c] || len(p.preferred) > 0 && p.prefersAt(c) {
		if got := p.open(true); got != scan.No {
			return got
		}
	}
	switch {
	case p.now.think != nil:
		return scan.No
	case (c == '`' || c == '~') && p.reads == othersText:
		return scan.No
	case c == '`' || c == '~':
		return p.tick()
	case p.now.message != nil, p.tries.inTrial(): // text, as its header says; or what follows a call inside thinking
		return scan.No
	case len(p.m.bare) == 0 || p.tried.spent():
		return scan.No
	case !p.tools.known() && p.cfg.Forced == "":
		return p.wordFirst()
	}
	if f := p.programLine(p.view()); f == scan.More {
		return scan.More
	}
	return p.bare()
}

// wordFirst looks for markup after a name where no tools are known: any word may be
// the name, so that only who is told of the grammar waits for what follows it.
func (p *Parser) wordFirst() scan.Found {
	if !slices.ContainsFunc(p.m.wordFirst, func(k int) bool { return p.isTold(p.m.openers[k].g) }) {
		return scan.No
	}
	return p.bareFrom(p.m.wordFirst)
}

// prefersAt reports whether calls of a preferred grammar may begin with c: it
// goes before the bare forms that begin so too.
func (p *Parser) prefersAt(c byte) bool {
	leads := func(m scan.Marker) bool { return m.Lead != "" && m.Begins(c) }
	return slices.ContainsFunc(p.preferred, func(g *gram) bool {
		return slices.ContainsFunc(g.group.open, leads) || slices.ContainsFunc(g.call.open, leads)
	})
}

// bare looks for a bare form.
func (p *Parser) bare() scan.Found {
	v := p.view()
	if p.now.program && startsName(strings.TrimLeft(v.S, "[ \t\r\n")) {
		return scan.No
	}
	if scan.IsNameByte(v.S[0]) {
		if f := p.bareWord(v); f != scan.Yes {
			return f
		}
	}
	return p.bareFrom(p.bareFor(v.S))
}

// bareFrom looks for one of the bare openers.
func (p *Parser) bareFrom(list []int) scan.Found {
	v, waits := p.view(), scan.No
	for _, k := range list {
		o := &p.m.openers[k]
		var c scan.Caps
		n, _, f := p.fit(o, v, &c)
		switch {
		case f == scan.More:
			waits = scan.More
		case f == scan.Yes && waits == scan.No:
			p.beginBare(o, n, c, p.mannerOf(o))
			return scan.Yes
		}
	}
	return waits
}

// bareFor lists the bare openers in the order to try them: an object, or a list
// of them, is read by a grammar of JSON if there is one.
func (p *Parser) bareFor(s string) []int {
	if s[0] == '{' || s[0] == '[' {
		if s = strings.TrimLeft(s, "[ \t\r\n"); s != "" && s[0] == '{' && len(p.m.bareJSON) > 0 {
			return p.m.bareJSON
		}
	}
	return p.m.bare
}

// bareWord reports whether what stands after the word at the start of v can
// follow the name of a tool.
func (p *Parser) bareWord(v scan.View) scan.Found {
	n := 0
	for n < len(v.S) && !scan.SlotEnds[v.S[n]] {
		if n++; n > scan.MaxSlot {
			return scan.No
		}
	}
	_, next := v.From(n).Blanks()
	if next.S == "" {
		if v.End {
			return scan.Yes
		}
		return v.Ask()
	}
	if p.m.follow[next.S[0]] || next.S[0] == 0xC4 {
		return scan.Yes
	}
	return scan.No
}

// beginBare begins a form without a marker, as a trial.
func (p *Parser) beginBare(o *opener, n int, c scan.Caps, m manner) {
	p.text()
	p.tryCall(m != marked, p.placeOf(m))
	p.now.leave()
	p.block.start, p.block.inLine = p.at(), false
	p.openCall(o.g)
	p.pos += n
	p.block.group, p.block.lists = nil, 0
	p.body(o, c)
}

// backquote meets backquotes in a line: a fence, or the edge of code.
func (p *Parser) backquote() scan.Found {
	if p.now.think != nil {
		return scan.No
	}
	s := p.rest()
	n := ticks(s)
	if n == len(s) && n < scan.MaxSlot && !p.end {
		return scan.More
	}
	if b := p.before(); n >= 3 && !p.now.inline && (p.now.line || b == ' ' || b == '\t') {
		return p.openFence()
	}
	p.pos += n
	p.now.inline = p.now.inline != (n%2 == 1)
	return scan.No
}

// ticks counts the backquotes, or the tildes, that s begins with.
func ticks(s string) (n int) {
	for n < len(s) && s[n] == s[0] && (s[0] == '`' || s[0] == '~') {
		n++
	}
	return n
}

// tick meets a backquote at a line start: a fence, or code that is the whole line.
func (p *Parser) tick() scan.Found {
	v := p.view()
	n := ticks(v.S)
	switch {
	case n == len(v.S):
		return v.Ask()
	case n >= 3:
		return p.openFence()
	case n > 1 || v.S[0] == '~' || !p.fenceAllowed():
		return scan.No
	}
	f := p.mayHold(v.From(1))
	if f == scan.Yes {
		p.text()
		p.startFence("`", 1)
	}
	return f
}
