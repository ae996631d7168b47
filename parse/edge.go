package parse

import (
	"html"
	"slices"

	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// edge uses a marker in a value.
func (p *Parser) edge(g *gram, end valueEdge, marker string) {
	switch {
	case end.inline:
		p.inlineValue(marker)
	case end.talk:
		p.startTalk()
	case end.word:
		p.content(marker)
	case end.lost && p.cur.val.doubt: // where the value ends cannot be told
		p.broken("text where an argument is due", g.Arg.Open)
	case end.lost:
		p.guess("/"+p.cur.val.caps.Key, "", "", "missing closer")
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
	talk   bool // or it is text about calls, with an argument of its own
	word   bool // it stands in such a text
}

// valueMarker decides what a hot byte begins.
func (p *Parser) valueMarker(g *gram, v scan.View) (e valueEdge, f scan.Found) {
	if p.cur.val.raw {
		n, f := scan.Longest(p.cur.val.close, v, nil)
		return valueEdge{n: n}, f
	}
	if g.XML {
		if n, f := body.Markup(v, p.cur.val.cdata); f != scan.No || p.cur.val.cdata {
			return valueEdge{n: n, inline: true}, f
		}
	}
	line := 0
	if g.endNewline {
		if line, f = body.LineBreak(v); f == scan.More {
			return e, scan.More
		}
	}
	v = v.From(line)
	n, f := scan.Longest(p.cur.val.close, v, nil)
	if f == scan.Yes {
		if f = p.argEnds(g, v.From(n)); f == scan.Yes && p.cur.val.talk.closes() {
			return valueEdge{n: line + n, word: true}, f
		}
		if f != scan.No {
			return valueEdge{n: line + n}, f
		}
		p.cur.val.doubt = true
		return e, scan.No
	}
	if p.cur.val.talk.depth > 0 {
		n, opens := p.opensLike(g, v)
		if opens == scan.Yes {
			p.cur.val.talk.depth++
			return valueEdge{n: line + n, word: true}, opens
		}
		return e, max(f, opens)
	}
	if p.mayTalk() {
		talk := p.beginsTalk(g, v)
		if talk == scan.Yes {
			return valueEdge{talk: true}, talk
		}
		f = max(f, talk)
	}
	lost := p.lostMarker(g, v)
	if lost == scan.Yes {
		return valueEdge{n: line, lost: true}, scan.Yes
	}
	return e, max(f, lost)
}

// argEnds reports whether the grammar allows what stands after an argument's
// closer: another argument, the end of the call or of the output. Else the
// closer is a word of the value, as in a text about calls.
func (p *Parser) argEnds(g *gram, v scan.View) scan.Found {
	_, v = v.Blanks()
	switch {
	case v.S == "" && v.Ask() == scan.More:
		return scan.More
	case v.S == "":
		return scan.Yes
	}
	waits := scan.No
	for i := range g.arg.open { // its beginning will do: a broken argument is one, too
		waits = max(waits, g.arg.open[i].Begun(v))
	}
	if waits == scan.Yes {
		return scan.Yes
	}
	for _, list := range [...][]scan.Marker{p.cur.closers, g.after, p.cur.val.close} {
		f := scan.Fits(list, v)
		if f == scan.Yes {
			return scan.Yes
		}
		waits = max(waits, f)
	}
	return waits
}

// lostMarker reports whether a marker of another level ends the value: the
// opener of an argument that the call may have and has not yet, the opener of
// a call that goes on as one, and a call's closer if the block ends or goes on
// after it.
func (p *Parser) lostMarker(g *gram, v scan.View) scan.Found {
	var c scan.Caps
	if len(g.arg.open) > 0 && g.arg.open[0].Strong {
		if _, f := scan.Longest(g.arg.open, v, &c); f == scan.More || f == scan.Yes && p.mayAdd(g, c.Key) {
			return f
		}
	}
	if !g.Line && len(g.call.open) > 0 && g.call.open[0].Strong {
		c = scan.Caps{}
		if n, f := scan.Longest(g.call.open, v, &c); f == scan.More || f == scan.Yes && (!p.tools.known() || p.tools.declared(p.tools.nameOf(g, &c))) {
			if f == scan.Yes {
				f = p.callGoesOn(g, &c, v.From(n))
			}
			if f != scan.No {
				return f
			}
		}
	}
	n, f := scan.Longest(p.cur.closers, v, nil)
	if f == scan.No && p.block.group != nil {
		n, f = scan.Longest(g.group.close, v, nil)
	}
	if f != scan.Yes {
		return f
	}
	_, v = v.From(n).Blanks()
	switch {
	case v.S == "" && v.End:
		return scan.Yes
	case v.S == "":
		return v.Ask()
	}
	if p.block.group != nil {
		if f := scan.Fits(g.group.close, v); f != scan.No {
			return f
		}
	}
	return scan.Fits(g.skipOpen, v)
}

// mayAdd reports whether the open call may get an argument of this name.
func (p *Parser) mayAdd(g *gram, key string) bool {
	own, _ := p.tools.Key(p.cur.name, key)
	if slices.Contains(p.cur.keys, own) && g.Item.Open == "" {
		return false
	}
	return !p.cur.declared || slices.Contains(p.tools.Order(p.cur.name), own)
}

// callGoesOn reports whether what stands after the opener of a call is its
// first argument or its closer.
func (p *Parser) callGoesOn(g *gram, c *scan.Caps, v scan.View) scan.Found {
	_, v = v.Blanks()
	if v.S == "" {
		return v.Ask()
	}
	return max(scan.Fits(g.arg.open, v), scan.Fits(scan.Fill(g.call.close, c), v))
}

// inlineValue takes an entity or the edge of a CDATA section.
func (p *Parser) inlineValue(s string) {
	switch s[0] {
	case '&':
		p.content(html.UnescapeString(s))
	case '<':
		p.cur.val.cdata = true
	default:
		p.cur.val.cdata = false
	}
}
