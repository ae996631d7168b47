package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// nameOf is the name of the tool in an opener's slots: from the name, or from
// an id that holds it.
func (p *Parser) nameOf(g *gram, c *caps) string {
	name := c.name
	if name == "" && c.id != "" {
		name = nameInID(g.ID, c.id)
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 && !p.declared(name) {
		name = name[i+1:]
	}
	return name
}

// nameInID reads the name out of an id of the form "functions.{name}:{n}".
// Where the id has another form, the name is its last dotted part; a mere
// counter holds none.
func nameInID(form, id string) string {
	before, after, _ := strings.Cut(form, "{name}")
	sep := strings.TrimSuffix(after, "{n}")
	id = strings.TrimPrefix(id, before)
	if i := strings.LastIndex(id, sep); sep != "" && i >= 0 {
		id = id[:i]
	}
	if strings.Trim(id, "0123456789") == "" {
		return ""
	}
	return id
}

// begin takes the opener that was decided on.
func (p *Parser) begin(b choice) {
	switch b.o.kind {
	case openCall:
		p.text()
		p.beginBlock(b)
	case openThink:
		p.text()
		p.pos += b.n
		p.mark()
		if p.think == nil {
			p.enterThink(b.o.g)
		}
	case closeThink:
		p.text()
		p.pos += b.n
		p.mark()
		p.leave()
		p.st, p.line = inText, true
	case openHeader:
		p.text()
		p.head = append(p.head[:0], p.rest()[:b.n]...)
		p.pos += b.n
		p.message, p.st = b.o.g, inHeader
	case endMessage:
		p.text()
		p.pos += b.n
		p.mark()
		p.leave()
		p.message, p.st = nil, inText
	case dropNoise:
		text := p.textPart
		p.text()
		p.pos += b.n
		p.mark()
		p.textPart = max(text, p.textPart)
	}
}

func (p *Parser) enterThink(g *gram) {
	p.leave()
	p.think, p.st = g, inThink
}

// leave closes the open text or thinking part.
func (p *Parser) leave() {
	p.textPart, p.think, p.inline = -1, nil, false
}

// beginBlock starts a group or a call.
func (p *Parser) beginBlock(b choice) {
	if bare := b.o.declared && !b.o.named; bare || p.think != nil {
		p.try(bare)
	}
	p.cur = call{open: true, g: b.o.g, start: p.at(), raw: p.cur.raw[:0], buf: p.cur.buf[:0]}
	p.pos += b.n
	p.cur.fenced, p.lists = b.o.call, 0
	p.leave()
	if b.o.group {
		p.group = b.o
	} else {
		p.group = nil
	}
	p.body(b.o, &b.caps)
}

// body goes on to read what follows the opener of a call.
func (p *Parser) body(o *opener, c *caps) {
	g := o.g
	if !o.named {
		p.cur.pending = true
		p.st = inGap
		return
	}
	p.named(g, c)
	switch {
	case c.closed:
		p.finish()
	case g.Body == grammar.Args:
		p.st = inBody
	default:
		p.st = inTagged
	}
}

// readBody finds out what the arguments of a call are written as.
func (p *Parser) readBody() bool {
	g, s := p.cur.g, p.rest()
	n := countBlanks(s)
	sameLine := strings.IndexByte(s[:n], '\n') < 0
	if s[n:] == "" && !p.eof || partialBlank(s[n:]) && !p.eof {
		return false
	}
	first := byte(0)
	if s[n:] != "" {
		first = s[n]
	}
	p.pos += n
	isJSON := first == '{' || (first == '[' || first == '"') && (g.Text == "" || g.Line)
	if isJSON {
		p.st = inElement
		p.el.args(p, g)
		return true
	}
	f := p.lookMarker(g.arg.open, s[n:])
	if f == no {
		f = p.lookMarker(slices.Concat(g.call.close, g.group.close, g.skipOpen), s[n:])
		if f == yes {
			p.cur.balanced, p.st = true, inAfter
			return true
		}
	}
	switch {
	case f == more:
		p.pos -= n
		return false
	case f == yes:
		p.st = inTagged
	case first == 0 && p.cut:
		p.truncated()
	case first == 0 || g.Text == "" && len(g.call.close) == 0 || g.Text != "" && g.Line && !sameLine:
		p.finish()
	case g.Text != "":
		p.openPlain(g)
	default:
		p.broken("the arguments are no object", "{")
	}
	return true
}

// named gives the open call its name.
func (p *Parser) named(g *gram, c *caps) {
	p.cur.open, p.cur.pending, p.cur.g, p.cur.caps, p.cur.id = true, false, g, *c, c.id
	p.el.argsKey = ""
	p.setName(p.nameOf(g, c))
}

// refuse reports an opener that no call follows: it is text again, and with
// it, where it names the call, all up to the call's closer.
func (p *Parser) refuse(b choice) {
	g := b.first.g
	if b.named != nil {
		b.o, b.n, b.caps = b.first, b.broken, *b.named
		p.beginBlock(b)
		p.broken("the arguments cannot be read", "")
		if p.cur.name == "" {
			p.cur.why = utp.Problem{Kind: utp.MissingName, Want: "the name of a tool"}
		}
		return
	}
	n, kind := b.broken, utp.Malformed
	closers := append(append([]marker(nil), g.call.close...), g.group.close...)
	blanks := countBlanks(p.rest()[n:])
	if k, f := p.matchAny(closers, p.rest()[n+blanks:], nil); f == yes && k > 0 {
		n, kind = n+blanks+k, utp.Empty
	}
	raw := p.rest()[:n]
	prob := utp.Problem{Kind: kind, Grammar: g.Name, Offset: p.at(), Raw: raw, Want: "a tool call"}
	p.pos += n
	if p.textPart < 0 {
		p.textPart = p.part()
	}
	p.emit(utp.Event{Kind: utp.ProblemEvent, Part: p.textPart, Problem: &prob})
	p.line = false
}

// readHeader reads a message header up to its closer and finds its route.
func (p *Parser) readHeader() bool {
	g, s := p.message, p.rest()
	for i := 0; i <= len(s) && i <= maxSlot; i++ {
		n, f := p.headerEnd(g, s[i:])
		if f == yes {
			p.pos += i + n
			return p.route(string(p.head) + s[:i+n])
		}
		if f == more || i == len(s) && !p.eof {
			return false
		}
		if i < len(s) && s[i] == '\n' {
			break
		}
	}
	p.text()
	p.message, p.st = nil, inText
	return true
}

// headerEnd fits the header's closer, or the line's end where it has none.
func (p *Parser) headerEnd(g *gram, s string) (int, found) {
	if len(g.header.close) > 0 {
		return p.matchAny(g.header.close, s, nil)
	}
	if s != "" && s[0] == '\n' {
		return 1, yes
	}
	return 0, no
}

// route decides what the message with this header is.
func (p *Parser) route(head string) bool {
	g := p.message
	for i := range g.routes {
		r := &g.routes[i]
		c, ok := findIn(r.has, head)
		if !ok || r.As == grammar.CallRoute && !g.header.open[0].strong && !p.declared(c.name) && (p.names != nil || p.cfg.Grammars == nil) {
			continue
		}
		switch r.As {
		case grammar.ThinkRoute:
			p.mark()
			p.enterThink(g)
		case grammar.TextRoute:
			p.mark()
			p.leave()
			p.st, p.line = inText, true
		case grammar.CallRoute:
			p.cur = call{open: true, g: g, start: p.at() - len(head), raw: p.cur.raw[:0], buf: p.cur.buf[:0], caps: c, pending: true}
			p.leave()
			p.st = inMessage
		}
		return true
	}
	p.text()
	p.message, p.st = nil, inText
	return true
}

// findIn looks for a template anywhere in a header.
func findIn(m *marker, head string) (c caps, ok bool) {
	if m == nil {
		return c, true
	}
	for i := range len(head) {
		var got caps
		if _, f := m.match(head[i:], true, &got); f == yes {
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
	g, s := p.message, p.rest()
	var best choice
	for i := range p.m.openers {
		o := &p.m.openers[i]
		if o.g != g || o.kind != openCall || len(o.steps) == 0 {
			continue
		}
		var c caps
		n, _, f := p.fit(o, s, &c)
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
	c := p.cur.caps
	p.named(g, &c)
	p.cur.pending = p.cur.name == ""
	if g.Body == grammar.JSON && p.cur.pending {
		p.st = inElement
		p.el.call(p, g)
		return true
	}
	p.st = inBody
	return true
}
