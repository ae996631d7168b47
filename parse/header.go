package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// readHeader reads a message header up to its closer and finds its route.
func (p *Parser) readHeader() bool {
	v := p.view()
	n, f := findHeaderEnd(p.now.message, v)
	switch f {
	case scan.More:
		return false
	case scan.Yes:
		if !isHeader(v.S[:n]) {
			f = scan.No
		}
	}
	if f == scan.No && p.cutHeader(v) {
		return true
	}
	if f == scan.No {
		if p.cut && v.End && !body.HasNewline(v.S) && isHeader(v.S) {
			p.pos = len(p.src)
			p.mark()
		}
		p.noHeader()
		return true
	}
	p.pos += n
	p.route(string(p.head) + v.S[:n])
	return true
}

// findHeaderEnd finds where a header ends: after its closer, on the same line.
func findHeaderEnd(g *gram, v scan.View) (int, scan.Found) {
	for i := 0; i <= len(v.S) && i <= scan.MaxSlot; i++ {
		at := v.From(i)
		n, f := headerEnd(g, at)
		switch {
		case f == scan.Yes:
			return i + n, scan.Yes
		case f == scan.More || at.S == "" && at.Ask() == scan.More:
			return 0, scan.More
		case at.S != "" && at.S[0] == '\n':
			return 0, scan.No
		}
	}
	return 0, scan.No
}

// isHeader reports whether what stands up to a header's end is one: a word, a
// recipient (to=…) with a word after it, then markers. Prose is not.
func isHeader(s string) bool {
	s, _, _ = strings.Cut(s, "<")
	words := strings.Fields(s)
	for i := 1; i < len(words); i++ {
		last := i == len(words)-1
		if !strings.Contains(words[i], "=") && !(last && strings.Contains(words[i-1], "=")) {
			return false
		}
	}
	return true
}

// closesHeader reports whether v goes on as a header up to its end.
func closesHeader(g *gram, v scan.View) scan.Found {
	n, f := findHeaderEnd(g, v)
	if f == scan.Yes && !isHeader(v.S[:n]) {
		return scan.No
	}
	return f
}

// noHeader gives back a header that leads nowhere.
func (p *Parser) noHeader() {
	p.text()
	p.now.message, p.st = nil, inText
}

// headerEnd fits the header's closer, or the line's end where it has none.
func headerEnd(g *gram, v scan.View) (int, scan.Found) {
	if len(g.header.close) > 0 {
		return scan.Longest(g.header.close, v, nil)
	}
	if v.S != "" && v.S[0] == '\n' {
		return 1, scan.Yes
	}
	return 0, scan.No
}

// route decides what the message with this header is. Where grammars share the
// opener, the first with a route that says what it looks for takes the header.
func (p *Parser) route(head string) {
	for _, list := range [...][]*gram{p.preferred, p.m.headers} {
		for _, g := range list {
			if r, c := p.routeOf(g, head, false); r != nil {
				p.follow(g, r, c, head)
				return
			}
		}
	}
	if r, c := p.routeOf(p.now.message, head, true); r != nil {
		p.follow(p.now.message, r, c, head)
		return
	}
	p.noHeader()
}

// routeOf finds the route of g that fits a header. rest asks for the one for
// all others.
func (p *Parser) routeOf(g *gram, head string, rest bool) (*route, *scan.Caps) {
	for i := range g.routes {
		r := &g.routes[i]
		if (r.has == nil) != rest {
			continue
		}
		c, ok := findIn(r.has, head, &p.work)
		if ok && (r.As != grammar.CallRoute || p.mayRoute(g, &c)) {
			return r, &c
		}
	}
	return nil, nil
}

// follow goes into the message that a route leads to.
func (p *Parser) follow(g *gram, r *route, c *scan.Caps, head string) {
	p.now.message = g
	switch r.As {
	case grammar.ThinkRoute:
		p.mark()
		p.enterThink(g)
	case grammar.TextRoute:
		p.mark()
		p.toText()
	case grammar.CallRoute:
		p.openCall(g)
		p.block.start, p.block.inLine = p.at()-len(head), false
		p.cur.start, p.cur.caps = p.block.start, *c
		p.now.leave()
		p.st = inMessage
	}
}

// mayRoute reports whether a header may call a tool: where it is ordinary text,
// only one that was offered.
func (p *Parser) mayRoute(g *gram, c *scan.Caps) bool {
	return g.header.open[0].Strong || p.tools.declared(c.Name) || !p.tools.known() && p.m.words == inFull
}

// findIn looks for a template anywhere in a header. It ends with a word: "to=user"
// is not in "to=userlist".
func findIn(m *scan.Marker, head string, work *int) (c scan.Caps, ok bool) {
	if m == nil {
		return c, true
	}
	for i := range len(head) {
		var got scan.Caps
		if n, f := m.Match(scan.View{S: head[i:], End: true, Work: work}, &got); f == scan.Yes && !insideWord(head, i+n) {
			return got, true
		}
	}
	return c, false
}

// insideWord reports whether a name goes on at an offset.
func insideWord(s string, at int) bool {
	return at > 0 && at < len(s) && inName(s[at-1]) && inName(s[at])
}

func inName(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// readMessage reads the start of a call's message: fences, or the call itself.
func (p *Parser) readMessage() bool {
	if !p.skipBlanks() {
		return false
	}
	g, v := p.now.message, p.view()
	var best choice
	for i := range p.m.openers {
		o := &p.m.openers[i]
		if o.g != g || o.kind != openCall || len(o.steps) == 0 {
			continue
		}
		var c scan.Caps
		n, _, f := p.fit(o, v, &c)
		if f == scan.More {
			return false
		}
		if f == scan.Yes && n > best.n {
			best = choice{state: scan.Yes, o: o, n: n, caps: c}
		}
		if best.state != scan.Yes && p.cutWithin(o, v) {
			p.named(g, p.cur.caps)
			p.cutHere()
			return true
		}
	}
	if best.state == scan.Yes {
		start := p.cur.start
		p.beginBlock(best)
		p.cur.start = start
		return true
	}
	p.named(g, p.cur.caps)
	switch scan.Fits(g.bodyOpen, v) {
	case scan.More:
		return false
	case scan.Yes: // its body begins, and cannot be read
		p.broken("the call in the message cannot be read", g.Call.Open)
		return true
	}
	if p.cur.pending = p.cur.name == ""; p.cur.pending && g.Body == grammar.JSON {
		p.st = inElement
		p.cur.el.call(p, g)
		return true
	}
	p.st = inBody
	return true
}
