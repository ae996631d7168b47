package parse

import (
	"html"
	"slices"
	"strings"
)

// edge uses a marker in a value.
func (p *Parser) edge(g *gram, end valueEdge, marker string) {
	switch {
	case end.inline:
		p.inlineValue(marker)
	case end.lost && p.val.doubt: // where the value ends cannot be told
		p.broken("text where an argument is due", g.Arg.Open)
	case end.lost:
		p.fix("/"+p.val.caps.key, "", "", "missing closer")
		p.endValue()
	default:
		p.endValue()
	}
}

// valueEdge is a marker in a value: n bytes that end it, or stand for something.
type valueEdge struct {
	n      int
	inline bool
	lost   bool // the value's own closer is missing
}

// valueMarker decides what a hot byte begins.
func (p *Parser) valueMarker(g *gram, v view) (e valueEdge, f found) {
	if p.val.raw {
		n, f := longest(p.val.close, v, nil)
		return valueEdge{n: n}, f
	}
	if g.XML {
		if n, f := xmlMarkup(v, p.val.cdata); f != no || p.val.cdata {
			return valueEdge{n: n, inline: true}, f
		}
	}
	line := 0
	if g.endNewline {
		if line, f = lineBreak(v); f == more {
			return e, more
		}
	}
	v = v.from(line)
	n, f := longest(p.val.close, v, nil)
	if f == yes {
		if f = p.argEnds(g, v.from(n)); f != no {
			return valueEdge{n: line + n}, f
		}
		p.val.doubt = true
		return e, no
	}
	lost := p.lostMarker(g, v)
	if lost == yes {
		return valueEdge{n: line, lost: true}, yes
	}
	return e, max(f, lost)
}

// argEnds reports whether the grammar allows what stands behind an argument's
// closer: another argument, the end of the call or of the output. Else the
// closer is a word of the value, as in a text about calls.
func (p *Parser) argEnds(g *gram, v view) found {
	_, v = v.blanks()
	switch {
	case v.s == "" && v.ask() == more:
		return more
	case v.s == "":
		return yes
	}
	waits := no
	for i := range g.arg.open { // its beginning will do: a broken argument is one, too
		waits = max(waits, g.arg.open[i].begun(v))
	}
	if waits == yes {
		return yes
	}
	for _, list := range [...][]marker{p.cur.closers, g.after, p.val.close} {
		f := fits(list, v)
		if f == yes {
			return yes
		}
		waits = max(waits, f)
	}
	return waits
}

// lostMarker reports whether a marker of another level ends the value: the
// opener of an argument that the call may have and has not yet, the opener of
// a call that goes on as one, and a call's closer if the block ends or goes on
// behind it.
func (p *Parser) lostMarker(g *gram, v view) found {
	var c caps
	if len(g.arg.open) > 0 && g.arg.open[0].strong {
		if _, f := longest(g.arg.open, v, &c); f == more || f == yes && p.mayAdd(g, c.key) {
			return f
		}
	}
	if !g.Line && len(g.call.open) > 0 && g.call.open[0].strong {
		c = caps{}
		if n, f := longest(g.call.open, v, &c); f == more || f == yes && (p.tools == nil || p.declared(p.nameOf(g, &c))) {
			if f == yes {
				f = p.callGoesOn(g, &c, v.from(n))
			}
			if f != no {
				return f
			}
		}
	}
	n, f := longest(p.cur.closers, v, nil)
	if f == no && p.group != nil {
		n, f = longest(g.group.close, v, nil)
	}
	if f != yes {
		return f
	}
	_, v = v.from(n).blanks()
	switch {
	case v.s == "" && v.end:
		return yes
	case v.s == "":
		return v.ask()
	}
	if p.group != nil {
		if f := fits(g.group.close, v); f != no {
			return f
		}
	}
	return fits(g.skipOpen, v)
}

// mayAdd reports whether the open call may get an argument of this name.
func (p *Parser) mayAdd(g *gram, key string) bool {
	own, _ := p.tools.Key(p.cur.name, key)
	if slices.Contains(p.cur.keys, own) && g.Item.Open == "" {
		return false
	}
	return !p.cur.declared || slices.Contains(p.tools.Order(p.cur.name), own)
}

// callGoesOn reports whether what stands behind the opener of a call is its
// first argument or its closer.
func (p *Parser) callGoesOn(g *gram, c *caps, v view) found {
	_, v = v.blanks()
	if v.s == "" {
		return v.ask()
	}
	return max(fits(g.arg.open, v), fits(fill(g.call.close, c), v))
}

const cdataOpen, cdataEnd = "<![CDATA[", "]]>"

// xmlMarkup finds an entity or the edge of a CDATA section.
func xmlMarkup(v view, inside bool) (n int, f found) {
	want := cdataOpen
	if inside {
		want = cdataEnd
	} else if v.s[0] == '&' {
		return entity(v)
	}
	if n, f = matchLiteral(v.s, want); f == more {
		f = v.ask()
	}
	return n, f
}

// entity is the length of the entity that v begins with.
func entity(v view) (int, found) {
	const longestEntity = 12
	s := v.s[1:]
	n := word(strings.TrimPrefix(s, "#")) + len(s) - len(strings.TrimPrefix(s, "#"))
	switch {
	case n > longestEntity:
		return 0, no
	case n == len(s):
		return 0, v.ask()
	case s[n] == ';' && html.UnescapeString(v.s[:n+2]) != v.s[:n+2]:
		return n + 2, yes
	}
	return 0, no
}

// inlineValue takes an entity or the edge of a CDATA section.
func (p *Parser) inlineValue(s string) {
	switch s[0] {
	case '&':
		p.content(html.UnescapeString(s))
	case '<':
		p.val.cdata = true
	default:
		p.val.cdata = false
	}
}
