package parse

import (
	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// readGap reads between the calls of a block: separators, the next call, or
// the block's end.
func (p *Parser) readGap() bool {
	if !p.passBlanks() {
		return false
	}
	g, v := p.cur.g, p.view()
	if v.S == "" {
		p.endBlock(false)
		return true
	}
	if f := p.gapMarker(g, v); f != scan.No {
		return f == scan.Yes
	}
	if p.block.group != nil && !p.cur.open && p.cutMarker(g.closers, v) {
		p.pos = len(p.src)
		p.endBlock(true)
		return true
	}
	switch v.S[0] {
	case '[':
		switch p.lookListPair(v) {
		case scan.More:
			return false
		case scan.Yes:
			return p.gapElement(g, v)
		}
		p.block.lists++
		p.pos++
		return true
	case ']':
		p.block.lists = max(p.block.lists-1, 0)
		p.pos++
		return true
	case ',', ';':
		p.pos++
		return true
	}
	return p.gapElement(g, v)
}

// passBlanks consumes white space after a call, as skipBlanks does. The end of
// the line may settle what the call is.
func (p *Parser) passBlanks() bool {
	from := p.pos
	all := p.skipBlanks()
	if p.tries.holding() && !p.cur.open && (p.block.group == nil || len(p.block.group.g.group.close) == 0) && body.HasNewline(p.src[from:p.pos]) {
		p.meetLine()
	}
	return all
}

// gapMarker takes a marker of the block at the start of v.
func (p *Parser) gapMarker(g *gram, v scan.View) scan.Found {
	closers := g.call.close
	if p.block.group != nil {
		closers = g.group.close
	}
	n, f := scan.Longest(closers, v, nil)
	if f == scan.Yes {
		p.pos += n
		p.closed(0)
		p.endBlock(true)
		return scan.Yes
	}
	if p.block.group == nil {
		if again := scan.Fits(g.skipOpen, v); again != scan.Yes || p.cur.open {
			return max(f, again)
		}
		p.endBlock(false)
		return scan.Yes
	}
	if f := p.gapCall(g, v); f != scan.No {
		return f
	}
	k, again := scan.Longest(g.again, v, nil)
	if again == scan.Yes { // a stray closer, or the group opened twice
		p.pos += k
		if !p.cur.open {
			p.mark()
		}
	}
	return max(f, again)
}

// gapCall takes the opener of the group's next call.
func (p *Parser) gapCall(g *gram, v scan.View) scan.Found {
	var c scan.Caps
	n, f := scan.Longest(g.call.open, v, &c)
	if f != scan.Yes {
		return f
	}
	p.nextCall()
	p.pos += n
	switch {
	case c.Name == "" && c.ID == "": // the element names the call
		p.cur.fenced = true
	case p.tools.nameOf(g, &c) == "" && !p.tools.counted(g, &c):
		p.broken("the call has no name", "")
		p.cur.why.Kind = utp.ProblemMissingName
	default:
		p.body(&opener{g: g, call: true, named: true}, c)
	}
	return scan.Yes
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
func (p *Parser) gapElement(g *gram, v scan.View) bool {
	bare := p.tries.trying() && p.tries.trial().bare || p.bareBlock() && !p.amongCalls()
	switch f := p.lookElement(v, bare); f {
	case scan.More:
		return false
	case scan.No:
		return p.gapJunk(v)
	}
	if bare && !p.tries.trying() && !p.cur.open {
		if p.at() < p.tried.bare || p.tried.spent() {
			p.endBlock(false)
			return true
		}
		p.mark()
		m := plainly
		if g == inSentence().g {
			m = surely
		}
		p.tryCall(true, p.placeOf(m))
	}
	p.nextCall()
	p.cur.direct = p.block.group != nil && !p.cur.fenced
	p.st = inElement
	switch v.S[0] {
	case '{':
		p.cur.el.call(p, g)
	case '"', '\'':
		p.cur.el.quoted(p)
	case '(', '[':
		p.cur.el.pair(p)
	default:
		p.python(v)
	}
	return true
}

// amongCalls reports whether the list at hand has held a call: what else stands in
// it was meant as one.
func (p *Parser) amongCalls() bool { return p.block.lists > 0 && !p.cur.open }

// bareBlock reports whether the block has no markers of its own, so that each
// call in it must name an offered tool.
func (p *Parser) bareBlock() bool {
	return p.cur.g.Line || p.block.group != nil && !p.block.group.steps[0].Strong
}

// gapJunk meets what is no call. It reports false if more must be seen of it.
func (p *Parser) gapJunk(v scan.View) bool {
	if p.cur.open && p.cur.pending { // nothing was read of the first call yet
		p.broken("no call follows the opener", "a tool call")
		return true
	}
	n, f := 0, scan.No
	if p.block.group != nil && p.block.group.steps[0].Strong || p.amongCalls() {
		n, f = body.Scalar(v)
	}
	switch f {
	case scan.More:
		return false
	case scan.Yes:
		prob := utp.Problem{Kind: utp.ProblemMalformed, Want: "a tool call"}
		if v.End && n == len(v.S) {
			prob.Kind, prob.Message = utp.ProblemTruncated, "the output ended inside the call"
		}
		p.nextCall()
		p.pos += n
		p.fail(prob)
		p.now.textPart = -1
	default:
		p.endBlock(false)
	}
	return true
}

// endBlock leaves the block; what was consumed is markup.
func (p *Parser) endBlock(closed bool) {
	bare := p.bareBlock()
	p.block.group = nil
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
	prob := utp.Problem{Kind: utp.ProblemTruncated, Want: "a tool call"}
	if closed {
		prob.Kind = utp.ProblemEmpty
	}
	p.fail(prob)
	p.now.leave()
	p.st = inText
}

// readTail drops closers that stand after a block and belong to no level.
func (p *Parser) readTail() bool {
	if !p.passBlanks() {
		return false
	}
	g, v := p.cur.g, p.view()
	n, f := 0, scan.No
	if v.S == "" {
		f = v.Ask()
	} else if p.m.closing[v.S[0]] {
		n, f = scan.Longest(p.m.closers, v, nil)
	}
	if p.tries.musing() { // what closes the thinking is not among them
		shut := scan.Fits(p.tries.trial().think.think.close, v)
		if shut == scan.More {
			return false
		}
		if shut == scan.Yes {
			p.markWords()
			p.toText()
			return true
		}
	}
	if f == scan.Yes && n > 1 {
		p.pos += n
		p.closed(0)
		return true
	}
	if p.cutMarker(p.m.closers, v) {
		p.pos = len(p.src)
		return true
	}
	if f == scan.No {
		f = p.sibling(g, v)
	}
	if f == scan.More {
		return false
	}
	if f == scan.No || n == 1 {
		p.markWords()
		p.toText()
	}
	return true
}

// sibling takes a further NAME{…} of a grammar whose opener stands once before
// several calls and that has no closer.
func (p *Parser) sibling(g *gram, v scan.View) scan.Found {
	if g.Body != grammar.Args || g.Line || len(g.call.close) > 0 || p.now.message != nil || !p.tools.known() {
		return scan.No
	}
	n := scan.Word(v.S)
	if n > scan.MaxSlot {
		return scan.No
	}
	if n == len(v.S) {
		return v.Ask()
	}
	if n == 0 || v.S[n] != '{' || !p.tools.declared(v.S[:n]) {
		return scan.No
	}
	p.mark()
	p.openCall(g)
	p.pos += n
	p.named(g, scan.Caps{Name: v.S[:n]})
	p.st = inBody
	return scan.Yes
}
