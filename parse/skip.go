package parse

import "github.com/unifiedtoolprotocol/utp"

// readSkip looks for the end of a broken call: its closer, or the next call.
func (p *Parser) readSkip() bool {
	g, s := p.cur.g, p.rest()
	for i := 0; i < len(s); i++ {
		if !g.skipHot[s[i]] && !(s[i] == '\n' && p.cur.plain) {
			continue
		}
		n, inside, f := p.skipEnd(g, p.viewAt(p.pos+i))
		if f == no {
			continue
		}
		p.pos += i + n
		if f == yes {
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

// skipEnd reports whether a broken call ends at v, with n bytes of its closer,
// and whether its group goes on.
func (p *Parser) skipEnd(g *gram, v view) (n int, inside bool, f found) {
	if v.s[0] == '\n' && p.cur.plain && p.group == nil {
		return 0, false, yes
	}
	if v.s[0] == '\n' && p.group != nil && g.lines() {
		return 0, true, nextLine(v.from(1))
	}
	n, own := longest(p.cur.closers, v, nil)
	k, outer := longest(g.group.close, v, nil)
	next := fits(g.skipOpen, v)
	switch {
	case own == yes:
		return n, true, yes
	case outer == yes && k > 1:
		return k, false, yes
	case next == yes:
		return 0, true, yes
	case own == more || outer == more || next == more:
		return 0, false, more
	}
	return 0, false, no
}

// nextLine reports whether an object begins the line.
func nextLine(v view) found {
	switch {
	case v.s == "":
		return v.ask()
	case v.s[0] == '{':
		return yes
	}
	return no
}

// skipped reports the broken call and goes on behind it: in its group, if that
// is still open.
func (p *Parser) skipped(inside bool) {
	prob := p.cur.why
	if p.end && p.pos == len(p.src) && p.cut {
		prob = utp.Problem{Kind: utp.Truncated, Message: "the output ended inside the call"}
	}
	inGroup := p.group != nil
	p.fail(prob)
	p.leave()
	p.st = inText
	if inside && inGroup {
		p.st = inGap
		return
	}
	p.group = nil
}
