package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// readHeader reads a message header up to its closer and finds its route.
func (p *Parser) readHeader() bool {
	v := p.view()
	n, f := findHeaderEnd(p.message, v)
	switch f {
	case more:
		return false
	case yes:
		if !isHeader(v.s[:n]) {
			f = no
		}
	}
	if f == no && p.cutHeader(v) {
		return true
	}
	if f == no {
		p.noHeader()
		return true
	}
	p.pos += n
	p.route(string(p.head) + v.s[:n])
	return true
}

// findHeaderEnd finds where a header ends: behind its closer, on the same line.
func findHeaderEnd(g *gram, v view) (int, found) {
	for i := 0; i <= len(v.s) && i <= maxSlot; i++ {
		at := v.from(i)
		n, f := headerEnd(g, at)
		switch {
		case f == yes:
			return i + n, yes
		case f == more || at.s == "" && at.ask() == more:
			return 0, more
		case at.s != "" && at.s[0] == '\n':
			return 0, no
		}
	}
	return 0, no
}

// isHeader reports whether what stands up to a header's end is one: a word, a
// recipient (to=…) with a word behind it, then markers. Prose is not.
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
func closesHeader(g *gram, v view) found {
	n, f := findHeaderEnd(g, v)
	if f == yes && !isHeader(v.s[:n]) {
		return no
	}
	return f
}

// noHeader gives back a header that leads nowhere.
func (p *Parser) noHeader() {
	p.text()
	p.message, p.st = nil, inText
}

// headerEnd fits the header's closer, or the line's end where it has none.
func headerEnd(g *gram, v view) (int, found) {
	if len(g.header.close) > 0 {
		return longest(g.header.close, v, nil)
	}
	if v.s != "" && v.s[0] == '\n' {
		return 1, yes
	}
	return 0, no
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
	if r, c := p.routeOf(p.message, head, true); r != nil {
		p.follow(p.message, r, c, head)
		return
	}
	p.noHeader()
}

// routeOf finds the route of g that fits a header. rest asks for the one for
// all others.
func (p *Parser) routeOf(g *gram, head string, rest bool) (*route, *caps) {
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
func (p *Parser) follow(g *gram, r *route, c *caps, head string) {
	p.message = g
	switch r.As {
	case grammar.ThinkRoute:
		p.mark()
		p.enterThink(g)
	case grammar.TextRoute:
		p.mark()
		p.toText()
	case grammar.CallRoute:
		p.openCall(g)
		p.block, p.inLine = p.at()-len(head), false
		p.cur.start, p.cur.caps = p.block, *c
		p.leave()
		p.st = inMessage
	}
}

// mayRoute reports whether a header may call a tool: where it is ordinary text,
// only one that was offered.
func (p *Parser) mayRoute(g *gram, c *caps) bool {
	return g.header.open[0].strong || p.declared(c.name) || p.tools == nil && p.m.words == inFull
}

// findIn looks for a template anywhere in a header. It ends with a word: "to=user"
// is not in "to=userlist".
func findIn(m *marker, head string, work *int) (c caps, ok bool) {
	if m == nil {
		return c, true
	}
	for i := range len(head) {
		var got caps
		if n, f := m.match(view{s: head[i:], end: true, work: work}, &got); f == yes && !insideWord(head, i+n) {
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
	g, v := p.message, p.view()
	var best choice
	for i := range p.m.openers {
		o := &p.m.openers[i]
		if o.g != g || o.kind != openCall || len(o.steps) == 0 {
			continue
		}
		var c caps
		n, _, f := p.fit(o, v, &c)
		if f == more {
			return false
		}
		if f == yes && n > best.n {
			best = choice{state: yes, o: o, n: n, caps: c}
		}
	}
	if best.state == yes {
		start := p.cur.start
		p.beginBlock(best)
		p.cur.start = start
		return true
	}
	p.named(g, p.cur.caps)
	switch fits(g.bodyOpen, v) {
	case more:
		return false
	case yes: // its body begins, and cannot be read
		p.broken("the call in the message cannot be read", g.Call.Open)
		return true
	}
	if p.cur.pending = p.cur.name == ""; p.cur.pending && g.Body == grammar.JSON {
		p.st = inElement
		p.el.call(p, g)
		return true
	}
	p.st = inBody
	return true
}
