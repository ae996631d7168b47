package parse

import (
	"slices"
	"strings"
)

// readTagged reads between tagged arguments.
func (p *Parser) readTagged() bool {
	if !p.skipBlanks() {
		return false
	}
	g, v := p.cur.g, p.view()
	if v.s == "" {
		p.endTagged()
		return true
	}
	if v.s[0] == '{' && len(p.cur.keys) == 0 {
		p.st = inElement
		p.el.args(p, g)
		return true
	}
	if f := p.closeTagged(g, v); f != no {
		return f == yes
	}
	var c caps
	n, f := longest(g.arg.open, v, &c)
	if f == yes && !p.mayArgue(g, p.cur.name, c.key) {
		f = no
	}
	switch f {
	case more:
		return false
	case yes:
		p.pos += n
		p.openValue(g, c)
		return true
	}
	return p.strayTag(g, v)
}

// mayArgue reports whether a tag may open an argument of a call: one that is
// ordinary text must be one that the tool has.
func (p *Parser) mayArgue(g *gram, name, key string) bool {
	if !g.Line {
		return true
	}
	name, _, ok := p.resolve(name)
	if !ok {
		return true
	}
	key, _ = p.tools.Key(name, key)
	return slices.Contains(p.tools.Order(name), key)
}

// closeTagged takes the call's closer, or ends it before an outer marker.
func (p *Parser) closeTagged(g *gram, v view) found {
	n, f := longest(p.cur.closers, v, nil)
	if f == yes {
		p.pos += n
		p.finish()
	}
	if f != no {
		return f
	}
	if f = fits(g.after, v); f == yes {
		p.lostCloser()
	}
	return f
}

// endTagged ends the call at the end of the output. One without any argument,
// or whose closer is due, was cut off.
func (p *Parser) endTagged() {
	if p.cut || len(p.cur.keys) == 0 || p.closerDue() {
		p.truncated()
		return
	}
	p.lostCloser()
}

// strayTag drops a closer of an argument that stands alone, and an argument's
// name without a value; anything else breaks the call.
func (p *Parser) strayTag(g *gram, v view) bool {
	var c caps
	switch n, f := longest(g.argHead, v, &c); f {
	case more:
		return false
	case yes:
		switch p.valueFollows(g, v.from(n)) {
		case more:
			return false
		case yes:
			p.fix("/"+c.key, "", "", "missing opener of a value")
			p.pos += n + countBlanks(v.s[n:])
			p.openValue(g, c)
			return true
		}
		p.fix("", v.s[:n], "", "an argument without a value")
		p.pos += n
		return true
	}
	switch n, f := longest(fill(g.arg.close, &p.val.caps), v, nil); f {
	case more:
		return false
	case yes:
		p.fix("", v.s[:n], "", "surplus closer")
		p.pos += n
	default:
		if p.endsInMarker(g, v) {
			p.pos = len(p.src)
			p.truncated()
			return true
		}
		p.broken("text where an argument is due", g.Arg.Open)
	}
	return true
}

// endsInMarker reports whether the output ends in the opener of an argument or the
// call's closer.
func (p *Parser) endsInMarker(g *gram, v view) bool {
	if !v.end {
		return false
	}
	v.end = false
	return max(fits(g.arg.open, v), fits(p.cur.closers, v)) == more
}

// valueFollows reports whether text stands behind an argument's name up to the closer
// of a value: only its opener is missing.
func (p *Parser) valueFollows(g *gram, v view) found {
	_, v = v.blanks()
	i := strings.IndexByte(v.s, '<')
	switch {
	case i < 0:
		return v.ask()
	case i == 0:
		return no
	}
	return fits(g.arg.close, v.from(i))
}
