package parse

import (
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// readGap reads between the calls of a block: separators, the next call, or
// the block's end.
func (p *Parser) readGap() bool {
	g := p.cur.g
	for {
		if !p.skipBlanks() {
			return false
		}
		s := p.rest()
		if s == "" {
			p.endBlock(false)
			return true
		}
		switch f := p.gapMarker(g, s); f {
		case more:
			return false
		case yes:
			return true
		}
		switch s[0] {
		case '[':
			p.lists++
			p.pos++
			continue
		case ',', ';', ']':
			p.pos++
			continue
		}
		return p.gapElement(g, s)
	}
}

// gapMarker takes a marker of the block at the start of s.
func (p *Parser) gapMarker(g *gram, s string) found {
	closers := g.call.close
	if p.group != nil {
		closers = g.group.close
	}
	n, f := p.matchAny(closers, s, nil)
	if f == yes {
		p.pos += n
		p.endBlock(true)
		return yes
	}
	if p.group != nil {
		if f2 := p.gapCall(g, s); f2 != no {
			return f2
		}
		if k, f2 := p.matchAny(slices.Concat(g.call.close, g.group.open), s, nil); f2 == yes {
			p.pos += k // a stray closer, or the group opened twice
			return p.again()
		} else if f2 == more {
			return more
		}
	}
	return f
}

func (p *Parser) again() found {
	if p.uncovered() > 0 && !p.cur.open {
		p.mark()
	}
	return yes
}

// gapCall takes the opener of the group's next call.
func (p *Parser) gapCall(g *gram, s string) found {
	var c caps
	n, f := p.matchAny(g.call.open, s, &c)
	if f != yes {
		return f
	}
	if c.name == "" && c.id == "" { // the element names the call
		p.nextCall()
		p.cur.fenced = true
		p.pos += n
		return yes
	}
	if p.nameOf(g, &c) == "" {
		p.nextCall()
		p.pos += n
		p.broken("the call has no name", "")
		p.cur.why.Kind = utp.MissingName
		return yes
	}
	p.nextCall()
	p.pos += n
	p.body(&opener{g: g, call: true, named: true}, &c)
	return yes
}

// nextCall opens a call that follows another in its block.
func (p *Parser) nextCall() {
	if p.cur.open {
		return
	}
	p.mark()
	g := p.cur.g
	p.cur = call{open: true, pending: true, g: g, start: p.at(), raw: p.cur.raw[:0], buf: p.cur.buf[:0]}
}

// gapElement begins the JSON or Python call at the start of s, or leaves the
// block.
func (p *Parser) gapElement(g *gram, s string) bool {
	bare := p.trial.on && p.trial.bare || p.bareBlock()
	switch f := p.lookElement(s, bare); f {
	case more:
		return false
	case no:
		return p.gapJunk(g, s)
	}
	if bare && !p.trial.on && !p.cur.open {
		if p.at() < p.noBare || p.tried > maxTried {
			p.endBlock(false)
			return true
		}
		p.mark()
		p.try(true)
	}
	p.nextCall()
	p.cur.direct = p.group != nil && !p.cur.fenced
	p.st = inElement
	switch s[0] {
	case '{':
		p.el.call(p, g)
	case '"', '\'':
		p.el.quoted(p, g)
	case '(':
		p.el.pair(p, g)
	default:
		return p.python(g, s)
	}
	return true
}

// bareBlock reports whether the block has no markers of its own, so that each
// call in it must name an offered tool.
func (p *Parser) bareBlock() bool {
	g := p.cur.g
	return g.Line || p.group != nil && !p.group.steps[0].strong
}

// gapJunk meets what is no call.
func (p *Parser) gapJunk(g *gram, s string) bool {
	if p.cur.open && p.cur.pending { // nothing was read of the first call yet
		p.broken("no call follows the opener", "a tool call")
		return true
	}
	if n := scalarJunk(s); n > 0 && p.group != nil && p.group.steps[0].strong && n < len(s) {
		p.nextCall()
		p.pos += n
		p.fail(utp.Problem{Kind: utp.Malformed, Want: "a tool call"})
		p.textPart = -1
		return true
	}
	p.endBlock(false)
	return true
}

// scalarJunk is the length of a number or word that stands where a call is due.
func scalarJunk(s string) int {
	n := word(s)
	if n > 0 && n < len(s) && (s[n] == ',' || s[n] == ']') {
		return n
	}
	return 0
}

// endBlock leaves the block; what was consumed is markup.
func (p *Parser) endBlock(closed bool) {
	if p.cur.open && p.cur.pending && !p.cur.started {
		if p.eof && p.cut && !closed {
			p.truncated()
			p.group = nil
			return
		}
		p.fail(utp.Problem{Kind: emptyKind(p, closed), Want: "a tool call"})
		p.group, p.st = nil, inText
		p.leave()
		return
	}
	p.mark()
	p.group = nil
	p.leave()
	p.st, p.line = inText, true
	if closed {
		p.st = inTail
	}
}

func emptyKind(p *Parser, closed bool) utp.ProblemKind {
	if closed {
		return utp.Empty
	}
	return utp.Truncated
}

// readAfter waits for the closer of a balanced call.
func (p *Parser) readAfter() bool {
	g := p.cur.g
	if !p.skipBlanks() {
		return false
	}
	s := p.rest()
	if s == "" {
		if p.cut && len(p.ownClosers()) > 0 {
			p.truncated()
			return true
		}
		p.lostCloserFix()
		p.finish()
		return true
	}
	own := p.ownClosers()
	for i := range own {
		m := own[i].with(&p.cur.caps)
		n, f := m.match(s, p.eof, &caps{})
		if f == more {
			return false
		}
		if f == yes {
			p.pos += n
			p.finishClosed()
			return true
		}
	}
	if f := p.lookMarker(slices.Concat(g.group.close, g.skipOpen), s); f != no {
		if f == more {
			return false
		}
		p.lostCloserFix()
		p.finish()
		return true
	}
	return p.afterJunk(g, s)
}

// ownClosers are the closers of the open call itself.
func (p *Parser) ownClosers() []marker {
	if p.cur.direct {
		return nil
	}
	return p.cur.g.call.close
}

// lostCloserFix notes that the call's closer is missing, where one was due.
// Forms of ordinary lines are closed by what the server stops at.
func (p *Parser) lostCloserFix() {
	if len(p.ownClosers()) > 0 && !p.cur.g.Line {
		p.fix("", "", "", "missing closer")
	}
}

// finishClosed ends a call at its own closer.
func (p *Parser) finishClosed() {
	p.finish()
	if p.st == inGap && p.group == nil {
		p.st = inTail
	}
}

// afterJunk meets something else than the closer behind a balanced call.
func (p *Parser) afterJunk(g *gram, s string) bool {
	own := p.ownClosers()
	switch s[0] {
	case ',', ';', '{', '[', '(':
		p.finish()
		return true
	case ']':
		if len(own) == 0 {
			p.finish()
			return true
		}
		if p.lists > 0 {
			p.lists--
			p.pos++
			return true
		}
		fallthrough
	case '}', ')':
		p.fix("", s[:1], "", "surplus closer")
		p.pos++
		return true
	}
	for i := 0; i < len(s) && i < maxSlot; i++ {
		if !g.skipHot[s[i]] {
			continue
		}
		n, f := p.matchAny(own, s[i:], nil)
		if f == more {
			return false
		}
		if f == yes {
			p.fix("", s[:i], "", "text behind the call dropped")
			p.pos += i + n
			p.finishClosed()
			return true
		}
	}
	if len(own) > 0 && len(s) < maxSlot && !p.eof {
		return false
	}
	p.lostCloserFix()
	p.finish()
	if p.st == inGap && p.group == nil {
		p.endBlock(false)
	}
	return true
}

// readTail drops closers that stand behind a block and belong to no level.
func (p *Parser) readTail() bool {
	g := p.cur.g
	if !p.skipBlanks() {
		return false
	}
	s := p.rest()
	if s != "" {
		n, f := p.matchAny(slices.Concat(g.group.close, g.call.close), s, nil)
		if f == more {
			return false
		}
		if f == yes && n > 1 {
			p.pos += n
			return true
		}
		if f := p.sibling(g, s); f != no {
			return f == yes
		}
	}
	p.mark()
	p.st, p.line = inText, true
	p.leave()
	return true
}

// sibling takes a further NAME{…} of a grammar whose opener stands once before
// several calls and that has no closer.
func (p *Parser) sibling(g *gram, s string) found {
	if g.Body != grammar.Args || g.Line || len(g.call.close) > 0 || p.message != nil || p.names == nil {
		return no
	}
	n := word(s)
	if n == len(s) && n < maxSlot && !p.eof && p.names.begins(s) {
		return more
	}
	if n == 0 || n == len(s) || s[n] != '{' || !p.declared(s[:n]) {
		return no
	}
	p.mark()
	p.cur = call{open: true, g: g, start: p.at(), raw: p.cur.raw[:0], buf: p.cur.buf[:0]}
	p.pos += n
	p.named(g, &caps{name: s[:n]})
	p.st = inBody
	return yes
}
