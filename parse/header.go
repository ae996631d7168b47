package parse

import "github.com/unifiedtoolprotocol/utp/grammar"

// readHeader reads a message header up to its closer and finds its route.
func (p *Parser) readHeader() bool {
	g, v := p.message, p.view()
	for i := 0; i <= len(v.s) && i <= maxSlot; i++ {
		at := v.from(i)
		n, f := headerEnd(g, at)
		if f == yes {
			p.pos += i + n
			p.route(string(p.head) + v.s[:i+n])
			return true
		}
		if f == more || at.s == "" && at.ask() == more {
			return false
		}
		if at.s != "" && at.s[0] == '\n' {
			break
		}
	}
	p.noHeader()
	return true
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

// route decides what the message with this header is.
func (p *Parser) route(head string) {
	g := p.message
	for i := range g.routes {
		r := &g.routes[i]
		c, ok := findIn(r.has, head, &p.work)
		if !ok || r.As == grammar.CallRoute && !p.mayRoute(g, &c) {
			continue
		}
		switch r.As {
		case grammar.ThinkRoute:
			p.mark()
			p.enterThink(g)
		case grammar.TextRoute:
			p.mark()
			p.toText()
		case grammar.CallRoute:
			p.openCall(g)
			p.block = p.at() - len(head)
			p.cur.start, p.cur.caps = p.block, c
			p.leave()
			p.st = inMessage
		}
		return
	}
	p.noHeader()
}

// mayRoute reports whether a header may call a tool: where it is ordinary text,
// only one that was offered.
func (p *Parser) mayRoute(g *gram, c *caps) bool {
	return g.header.open[0].strong || p.declared(c.name) || p.tools == nil && p.cfg.Grammars != nil
}

// findIn looks for a template anywhere in a header.
func findIn(m *marker, head string, work *int) (c caps, ok bool) {
	if m == nil {
		return c, true
	}
	for i := range len(head) {
		var got caps
		if _, f := m.match(view{s: head[i:], end: true, work: work}, &got); f == yes {
			return got, true
		}
	}
	return c, false
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
	if p.cur.pending = p.cur.name == ""; p.cur.pending && g.Body == grammar.JSON {
		p.st = inElement
		p.el.call(p, g)
		return true
	}
	p.st = inBody
	return true
}
