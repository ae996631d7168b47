package parse

import (
	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// readGap reads between the calls of a block: separators, the next call, or
// the block's end.
func (p *Parser) readGap() bool {
	if !p.passBlanks() {
		return false
	}
	g, v := p.cur.g, p.view()
	if v.s == "" {
		p.endBlock(false)
		return true
	}
	if f := p.gapMarker(g, v); f != no {
		return f == yes
	}
	switch v.s[0] {
	case '[':
		switch p.lookListPair(v) {
		case more:
			return false
		case yes:
			return p.gapElement(g, v)
		}
		p.lists++
		p.pos++
		return true
	case ',', ';', ']':
		p.pos++
		return true
	}
	return p.gapElement(g, v)
}

// passBlanks consumes white space behind a call, as skipBlanks does. The end of
// the line may settle what the call is.
func (p *Parser) passBlanks() bool {
	from := p.pos
	all := p.skipBlanks()
	if p.holding() && !p.cur.open && (p.group == nil || len(p.group.g.group.close) == 0) && hasNewline(p.src[from:p.pos]) {
		p.meetLine()
	}
	return all
}

// gapMarker takes a marker of the block at the start of v.
func (p *Parser) gapMarker(g *gram, v view) found {
	closers := g.call.close
	if p.group != nil {
		closers = g.group.close
	}
	n, f := longest(closers, v, nil)
	if f == yes {
		p.pos += n
		p.closed(0)
		p.endBlock(true)
		return yes
	}
	if p.group == nil {
		return f
	}
	if f := p.gapCall(g, v); f != no {
		return f
	}
	k, again := longest(g.again, v, nil)
	if again == yes { // a stray closer, or the group opened twice
		p.pos += k
		if !p.cur.open {
			p.mark()
		}
	}
	return max(f, again)
}

// gapCall takes the opener of the group's next call.
func (p *Parser) gapCall(g *gram, v view) found {
	var c caps
	n, f := longest(g.call.open, v, &c)
	if f != yes {
		return f
	}
	p.nextCall()
	p.pos += n
	switch {
	case c.name == "" && c.id == "": // the element names the call
		p.cur.fenced = true
	case p.nameOf(g, &c) == "":
		p.broken("the call has no name", "")
		p.cur.why.Kind = utp.MissingName
	default:
		p.body(&opener{g: g, call: true, named: true}, c)
	}
	return yes
}

// nextCall opens a call that follows another in its block.
func (p *Parser) nextCall() {
	if p.cur.open {
		return
	}
	p.mark()
	p.openCall(p.cur.g)
}

// gapElement begins the JSON or Python call at the start of v, or leaves the
// block.
func (p *Parser) gapElement(g *gram, v view) bool {
	bare := p.trying() && p.trial().bare || p.bareBlock()
	switch f := p.lookElement(v, bare); f {
	case more:
		return false
	case no:
		return p.gapJunk(v)
	}
	if bare && !p.trying() && !p.cur.open {
		if p.at() < p.noBare || p.tried > maxTried {
			p.endBlock(false)
			return true
		}
		p.mark()
		p.tryCall(true, p.placeOf(plainly))
	}
	p.nextCall()
	p.cur.direct = p.group != nil && !p.cur.fenced
	p.st = inElement
	switch v.s[0] {
	case '{':
		p.el.call(p, g)
	case '"', '\'':
		p.el.quoted(p)
	case '(', '[':
		p.el.pair(p)
	default:
		p.python(v)
	}
	return true
}

// bareBlock reports whether the block has no markers of its own, so that each
// call in it must name an offered tool.
func (p *Parser) bareBlock() bool {
	return p.cur.g.Line || p.group != nil && !p.group.steps[0].strong
}

// gapJunk meets what is no call. It reports false if more must be seen of it.
func (p *Parser) gapJunk(v view) bool {
	if p.cur.open && p.cur.pending { // nothing was read of the first call yet
		p.broken("no call follows the opener", "a tool call")
		return true
	}
	n, f := 0, no
	if p.group != nil && p.group.steps[0].strong {
		n, f = scalarJunk(v)
	}
	switch f {
	case more:
		return false
	case yes:
		p.nextCall()
		p.pos += n
		p.fail(utp.Problem{Kind: utp.Malformed, Want: "a tool call"})
		p.textPart = -1
	default:
		p.endBlock(false)
	}
	return true
}

// scalarJunk is the length of a number or word that stands where a call is due.
func scalarJunk(v view) (int, found) {
	n := word(v.s)
	switch {
	case n == 0 || n > maxSlot:
		return 0, no
	case n == len(v.s):
		return 0, v.ask()
	case v.s[n] == ',' || v.s[n] == ']':
		return n, yes
	}
	return 0, no
}

// endBlock leaves the block; what was consumed is markup.
func (p *Parser) endBlock(closed bool) {
	bare := p.bareBlock()
	p.group = nil
	if p.cur.open && p.cur.pending && !p.cur.started {
		p.emptyBlock(closed)
		return
	}
	p.markWords()
	p.toText()
	if closed || bare {
		p.st = inTail
	}
}

// emptyBlock reports a block without a call.
func (p *Parser) emptyBlock(closed bool) {
	if p.end && p.cut && !closed {
		p.truncated()
		return
	}
	prob := utp.Problem{Kind: utp.Truncated, Want: "a tool call"}
	if closed {
		prob.Kind = utp.Empty
	}
	p.fail(prob)
	p.leave()
	p.st = inText
}

// readTail drops closers that stand behind a block and belong to no level.
func (p *Parser) readTail() bool {
	if !p.passBlanks() {
		return false
	}
	g, v := p.cur.g, p.view()
	n, f := longest(p.m.closers, v, nil)
	if p.musing() { // what closes the thinking is not among them
		shut := fits(p.trial().think.think.close, v)
		if shut == more {
			return false
		}
		if shut == yes {
			p.markWords()
			p.toText()
			return true
		}
	}
	if f == yes && n > 1 {
		p.pos += n
		p.closed(0)
		return true
	}
	if f == no {
		f = p.sibling(g, v)
	}
	if f == more {
		return false
	}
	if f == no || n == 1 {
		p.markWords()
		p.toText()
	}
	return true
}

// sibling takes a further NAME{…} of a grammar whose opener stands once before
// several calls and that has no closer.
func (p *Parser) sibling(g *gram, v view) found {
	if g.Body != grammar.Args || g.Line || len(g.call.close) > 0 || p.message != nil || p.tools == nil {
		return no
	}
	n := word(v.s)
	if n > maxSlot {
		return no
	}
	if n == len(v.s) {
		return v.ask()
	}
	if n == 0 || v.s[n] != '{' || !p.declared(v.s[:n]) {
		return no
	}
	p.mark()
	p.openCall(g)
	p.pos += n
	p.named(g, caps{name: v.s[:n]})
	p.st = inBody
	return yes
}
