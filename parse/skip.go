package parse

import (
	"github.com/unifiedtoolprotocol/utp"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// readSkip looks for the end of a broken call: its closer, or the next call.
func (p *Parser) readSkip() bool {
	g, s := p.cur.g, p.rest()
	for i := 0; i < len(s); i++ {
		if !g.skipHot[s[i]] && !(s[i] == '\n' && p.endsWithLine()) {
			continue
		}
		n, inside, f := p.skipEnd(g, p.viewAt(p.pos+i))
		if f == scan.No {
			continue
		}
		p.pos += i + n
		if f == scan.Yes {
			p.skipped(inside)
			return true
		}
		return false
	}
	p.pos = len(p.src)
	if p.end {
		p.skipped(false)
	}
	return p.end
}

// endsWithLine reports whether a broken call ends with its line: it is ordinary text.
func (p *Parser) endsWithLine() bool { return p.block.group == nil && (p.cur.plain || p.cur.g.Line) }

// skipEnd reports whether a broken call ends at v, with n bytes of its closer,
// and whether its group goes on.
func (p *Parser) skipEnd(g *gram, v scan.View) (n int, inside bool, f scan.Found) {
	if v.S[0] == '\n' && p.endsWithLine() {
		return 0, false, scan.Yes
	}
	if v.S[0] == '\n' && p.block.group != nil && g.lines() {
		return 0, true, nextLine(v.From(1))
	}
	n, own := scan.Longest(p.cur.closers, v, nil)
	k, outer := scan.Longest(g.group.close, v, nil)
	next := scan.Fits(g.skipOpen, v)
	if p.now.message != nil && next != scan.Yes { // the message's header may come once more
		next = max(next, scan.Fits(g.header.close, v))
	}
	switch {
	case own == scan.Yes:
		return n, true, scan.Yes
	case outer == scan.Yes && k > 1:
		return k, false, scan.Yes
	case next == scan.Yes:
		return 0, true, scan.Yes
	case own == scan.More || outer == scan.More || next == scan.More:
		return 0, false, scan.More
	}
	return 0, false, scan.No
}

// nextLine reports whether an object begins the line.
func nextLine(v scan.View) scan.Found {
	switch {
	case v.S == "":
		return v.Ask()
	case v.S[0] == '{':
		return scan.Yes
	}
	return scan.No
}

// skipped reports the broken call and goes on after it: in its group, if that
// is still open.
func (p *Parser) skipped(inside bool) {
	prob := p.cur.why
	if p.end && p.pos == len(p.src) && p.cut {
		prob = utp.Problem{Kind: utp.ProblemTruncated, Message: "the output ended inside the call"}
	}
	inGroup := p.block.group != nil
	p.fail(prob)
	p.now.leave()
	p.st = inText
	if inside && inGroup {
		p.st = inGap
		return
	}
	p.block.group = nil
}
