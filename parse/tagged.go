package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// readTagged reads between tagged arguments.
func (p *Parser) readTagged() bool {
	if !p.skipBlanks() {
		return false
	}
	g, v := p.cur.g, p.view()
	if v.S == "" {
		p.endTagged()
		return true
	}
	if v.S[0] == '{' && len(p.cur.keys) == 0 {
		p.st = inElement
		p.cur.el.args(p, g)
		return true
	}
	if f := p.closeTagged(g, v); f != scan.No {
		return f == scan.Yes
	}
	var c scan.Caps
	n, f := scan.Longest(g.arg.open, v, &c)
	if f == scan.Yes && !p.mayArgue(g, p.cur.name, c.Key) {
		f = scan.No
	}
	switch f {
	case scan.More:
		return false
	case scan.Yes:
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
	name, _, ok := p.tools.resolve(name)
	if !ok {
		return true
	}
	key, _ = p.tools.Key(name, key)
	return slices.Contains(p.tools.Order(name), key)
}

// closeTagged takes the call's closer, or ends it before an outer marker.
func (p *Parser) closeTagged(g *gram, v scan.View) scan.Found {
	n, f := scan.Longest(p.cur.closers, v, nil)
	if f == scan.Yes {
		p.pos += n
		p.finish()
	}
	if f != scan.No {
		return f
	}
	if f = scan.Fits(g.after, v); f == scan.Yes && !p.openedAgain(g, v) {
		p.lostCloser()
	}
	return f
}

// openedAgain takes the call's opener where it stands once more before the first
// argument.
func (p *Parser) openedAgain(g *gram, v scan.View) bool {
	var c scan.Caps
	n, f := scan.Longest(g.call.open, v, &c)
	if f != scan.Yes || len(p.cur.keys) > 0 {
		return false
	}
	if name, _, _ := p.tools.resolve(p.tools.nameOf(g, &c)); name != p.cur.name {
		return false
	}
	p.fix("", v.S[:n], "", "opened twice")
	p.pos += n
	return true
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
func (p *Parser) strayTag(g *gram, v scan.View) bool {
	var c scan.Caps
	switch n, f := scan.Longest(g.argHead, v, &c); f {
	case scan.More:
		return false
	case scan.Yes:
		switch p.valueFollows(g, v.From(n)) {
		case scan.More:
			return false
		case scan.Yes:
			p.fix("/"+c.Key, "", "", "missing opener of a value")
			p.pos += n + scan.CountBlanks(v.S[n:])
			p.openValue(g, c)
			return true
		}
		p.guess("", v.S[:n], "", "an argument without a value")
		p.pos += n
		return true
	}
	switch n, f := scan.Longest(scan.Fill(g.arg.close, &p.cur.val.caps), v, nil); f {
	case scan.More:
		return false
	case scan.Yes:
		p.fix("", v.S[:n], "", "surplus closer")
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
func (p *Parser) endsInMarker(g *gram, v scan.View) bool {
	if !v.End {
		return false
	}
	v.End = false
	return max(scan.Fits(g.arg.open, v), scan.Fits(p.cur.closers, v)) == scan.More
}

// valueFollows reports whether text stands after an argument's name up to the closer
// of a value: only its opener is missing.
func (p *Parser) valueFollows(g *gram, v scan.View) scan.Found {
	_, v = v.Blanks()
	i := strings.IndexByte(v.S, '<')
	switch {
	case i < 0:
		return v.Ask()
	case i == 0:
		return scan.No
	}
	return scan.Fits(g.arg.close, v.From(i))
}
