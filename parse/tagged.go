package parse

import (
	"encoding/json"
	"html"
	"strings"

	"github.com/unifiedtoolprotocol/utp/lenient"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// value is the tagged argument being read.
type value struct {
	caps   caps
	close  []marker
	text   []byte // what does not stream
	stream bool
	fresh  bool // nothing was read yet
	cdata  bool
	depth  int // of nested arguments and items
}

// readTagged reads between tagged arguments.
func (p *Parser) readTagged() bool {
	g := p.cur.g
	if !p.skipBlanks() {
		return false
	}
	s := p.rest()
	if s == "" {
		p.endTagged()
		return true
	}
	if s[0] == '{' && len(p.cur.keys) == 0 {
		p.st = inElement
		p.el.args(p, g)
		return true
	}
	if f := p.closeTagged(g, s); f != no {
		return f == yes
	}
	var c caps
	n, f := p.matchAny(g.arg.open, s, &c)
	if f == yes && !p.argDeclared(g, &c) {
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
	return p.strayTag(g, s)
}

// argDeclared reports whether a tag that is ordinary text may open an argument.
func (p *Parser) argDeclared(g *gram, c *caps) bool {
	if !g.Line || !p.cur.declared {
		return true
	}
	key, _ := p.tools().Key(p.cur.name, c.key)
	return contains(p.tools().Order(p.cur.name), key)
}

// closeTagged takes the call's closer, or ends it before an outer marker.
func (p *Parser) closeTagged(g *gram, s string) found {
	for i := range g.call.close {
		m := g.call.close[i].with(&p.cur.caps)
		n, f := m.match(s, p.eof, &caps{})
		if f == yes {
			p.pos += n
			p.finish()
		}
		if f != no {
			return f
		}
	}
	f := p.lookMarker(g.group.close, s)
	if f == no {
		f = p.lookMarker(g.skipOpen, s)
	}
	if f == yes {
		p.lostCloserFix()
		p.finish()
	}
	return f
}

// endTagged ends the call at the end of the output.
func (p *Parser) endTagged() {
	if p.cut {
		p.truncated()
		return
	}
	p.lostCloserFix()
	p.finish()
}

// strayTag drops a closer of an argument that stands alone; anything else
// breaks the call.
func (p *Parser) strayTag(g *gram, s string) bool {
	for i := range g.arg.close {
		m := g.arg.close[i].with(&p.val.caps)
		if n, f := m.match(s, p.eof, &caps{}); f == more {
			return false
		} else if f == yes {
			p.fix("", s[:n], "", "surplus closer")
			p.pos += n
			return true
		}
	}
	p.broken("text where an argument is due", g.Arg.Open)
	return true
}

// openValue begins the value of an argument.
func (p *Parser) openValue(g *gram, c caps) {
	p.val = value{caps: c, text: p.val.text[:0], close: p.val.close[:0], fresh: true}
	for i := range g.arg.close {
		p.val.close = append(p.val.close, g.arg.close[i].with(&c))
	}
	p.argKey(c.key)
	if p.cur.argsAt < 0 {
		p.cur.argsAt = p.at()
	}
	p.st = inValue
	if c.closed {
		p.endValue()
	}
}

// isText reports whether the value is text whatever it looks like.
func (p *Parser) isText() bool {
	switch strings.ToLower(p.val.caps.typ) {
	case "":
		return p.tools().Kind(p.cur.name, p.val.caps.key).Text()
	case "true", "string", "str", "text":
		return true
	}
	return false
}

// plainString reports whether the schema knows the argument as a string.
func (p *Parser) plainString() bool {
	return p.tools().Kind(p.cur.name, p.val.caps.key) == schema.String
}

// freshValue looks at the first bytes of a value: the newline that belongs to
// the opener, nested elements, or how it is to be read.
func (p *Parser) freshValue() bool {
	g, s := p.cur.g, p.rest()
	if g.argNewline && s != "" && (s[0] == '\n' || s[0] == '\r') {
		n := 1
		if s[0] == '\r' {
			if len(s) == 1 && !p.eof {
				return false
			}
			if n = 0; len(s) > 1 && s[1] == '\n' {
				n = 2
			}
		}
		p.pos += n
		s = p.rest()
	}
	if g.Item.Open != "" && !p.plainString() {
		b := countBlanks(s)
		_, f := p.matchAny(append(append([]marker(nil), g.item.open...), g.arg.open...), s[b:], nil)
		if f == more || s[b:] == "" && !p.eof {
			return false
		}
		if f == yes {
			p.val.fresh, p.st = false, inNest
			return true
		}
	}
	p.val.fresh = false
	if p.val.stream = p.isText(); p.val.stream {
		p.cur.buf = append(p.cur.buf, '"')
	}
	return true
}

// readValue reads a value up to its closer.
func (p *Parser) readValue() bool {
	if p.val.fresh && !p.freshValue() {
		return false
	}
	if p.st != inValue {
		return true
	}
	g, s := p.cur.g, p.src
	from := p.pos
	for i := from; i < len(s); i++ {
		if !g.valueHot[s[i]] {
			continue
		}
		cut, n, f := p.valueMarker(g, s[i:])
		switch f {
		case more:
			p.valueText(from, i)
			return false
		case yes:
			p.valueText(from, i)
			p.pos += cut
			if n > 0 {
				return p.inlineValue(s[p.pos:], n)
			}
			p.endValue()
			return true
		}
	}
	p.valueText(from, len(s))
	if p.eof {
		p.truncated()
	}
	return p.eof
}

// valueText takes src[from:to] as content.
func (p *Parser) valueText(from, to int) {
	p.pos = to
	p.content(p.src[from:to])
}

func (p *Parser) content(text string) {
	if text == "" {
		return
	}
	p.cur.argsEnd = p.at()
	if !p.val.stream {
		p.val.text = append(p.val.text, text...)
		return
	}
	p.piece(escaped(text))
}

// escaped is text as it stands in a JSON string, without a copy if it may.
func escaped(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return string(appendEscaped(nil, s))
		}
	}
	return s
}

// valueMarker decides what a hot byte begins. yes with n = 0: the value ends,
// and cut bytes belong to its end; with n > 0: markup of n bytes inside it.
func (p *Parser) valueMarker(g *gram, s string) (cut, n int, f found) {
	if g.XML {
		if n, f := xmlMarkup(s, p.val.cdata, p.eof); f != no || p.val.cdata {
			return 0, n, f
		}
	}
	at := 0
	if g.endNewline && (s[0] == '\n' || s[0] == '\r') {
		if at = 1; s[0] == '\r' && len(s) > 1 && s[1] == '\n' {
			at = 2
		}
		if at == len(s) {
			return 0, 0, mayGrow(p.eof)
		}
	}
	n, f = p.matchAny(p.val.close, s[at:], nil)
	if f == yes {
		return at + n, 0, yes
	}
	if lost := p.lostCloser(g, s[at:]); lost != no {
		f = lost
		if lost == yes {
			p.fix("/"+p.val.caps.key, "", "", "missing closer")
			return at, 0, yes
		}
	}
	return 0, 0, f
}

func mayGrow(eof bool) found {
	if eof {
		return no
	}
	return more
}

// lostCloser reports whether a marker of another level ends the value: an
// opener does, a call's closer only if the block ends or goes on behind it.
func (p *Parser) lostCloser(g *gram, s string) found {
	if len(g.arg.open) > 0 && g.arg.open[0].strong {
		if f := p.lookMarker(g.arg.open, s); f != no {
			return f
		}
	}
	if !g.Line {
		if f := p.lookMarker(g.call.open, s); f != no && g.call.open[0].strong {
			return f
		}
	}
	n, f := 0, no
	for i := range g.call.close {
		m := g.call.close[i].with(&p.cur.caps)
		if n, f = m.match(s, p.eof, &caps{}); f != no {
			break
		}
	}
	if f == no && p.group != nil {
		n, f = p.matchAny(g.group.close, s, nil)
	}
	if f != yes {
		return f
	}
	rest := s[n+countBlanks(s[n:]):]
	if rest == "" {
		if p.eof {
			return yes
		}
		if len(s) > maxSlot {
			return no
		}
		return more
	}
	if p.group != nil {
		if f := p.lookMarker(g.group.close, rest); f != no {
			return f
		}
	}
	return p.lookMarker(g.skipOpen, rest)
}

// xmlMarkup finds an entity or the edge of a CDATA section.
func xmlMarkup(s string, inside, eof bool) (n int, f found) {
	const open, end = "<![CDATA[", "]]>"
	want := open
	if inside {
		want = end
	} else if s[0] == '&' {
		i := strings.IndexByte(s[:min(len(s), 12)], ';')
		switch {
		case i > 1 && html.UnescapeString(s[:i+1]) != s[:i+1]:
			return i + 1, yes
		case i < 0 && len(s) < 12 && word(s[1:]) == len(s)-1 && !eof:
			return 0, more
		}
		return 0, no
	}
	if k, f := matchLiteral(s, want); f == more && eof {
		return 0, no
	} else {
		return k, f
	}
}

// inlineValue takes an entity or the edge of a CDATA section.
func (p *Parser) inlineValue(s string, n int) bool {
	p.pos += n
	switch s[0] {
	case '&':
		p.content(html.UnescapeString(s[:n]))
	case '<':
		p.val.cdata = true
	default:
		p.val.cdata = false
	}
	return true
}

// endValue types the value and goes back to the next argument.
func (p *Parser) endValue() {
	v := &p.val
	p.cur.argsEnd = p.at()
	p.st = inTagged
	switch {
	case v.stream:
		p.cur.buf = append(p.cur.buf, '"')
	case v.fresh && p.isText():
		p.cur.buf = append(p.cur.buf, `""`...)
	case v.caps.typ != "" && !p.isText():
		p.argValue(jsonOrText(string(v.text)))
	default:
		raw, fix := p.tools().TextValue(p.cur.name, v.caps.key, string(v.text))
		if fix != nil {
			p.cur.fixes = append(p.cur.fixes, *fix)
		}
		p.cur.buf = appendCompact(p.cur.buf, raw)
	}
}

// jsonOrText reads a value that is said to be no text.
func jsonOrText(s string) json.RawMessage {
	trimmed := strings.TrimSpace(s)
	if v, n, _, err := lenient.Repair(trimmed, lenient.Options{Strict: true}); err == nil && n == len(trimmed) {
		return v
	}
	if v, n, _, err := lenient.Repair(trimmed, lenient.Options{Python: true}); err == nil && n == len(trimmed) && trimmed != "" && strings.IndexByte("{[TFN", trimmed[0]) >= 0 {
		return v
	}
	return quote(s)
}

// readPlain reads a body that is one argument's text, up to the call's closer.
func (p *Parser) readPlain() bool {
	g, s := p.cur.g, p.rest()
	closers := g.call.close
	if p.message != nil {
		closers = g.end
	}
	for i := 0; i < len(s); i++ {
		if !g.skipHot[s[i]] && s[i] != '\n' {
			continue
		}
		at := i + countBlanks(s[i:])
		n, f := p.matchAny(closers, s[at:], nil)
		if f == more || at == len(s) && !p.eof {
			p.valueText(p.pos, p.pos+i)
			return false
		}
		if f == yes || g.Line && s[i] == '\n' {
			p.valueText(p.pos, p.pos+i)
			if f == yes && p.message == nil {
				p.pos += at - i + n
			}
			p.endPlain()
			return true
		}
	}
	p.valueText(p.pos, len(p.src))
	if p.eof {
		if p.cut {
			p.truncated()
		} else {
			p.endPlain()
		}
	}
	return p.eof
}

// openPlain begins a body that is plain text.
func (p *Parser) openPlain(g *gram) {
	p.val = value{caps: caps{key: g.Text}, text: p.val.text[:0], close: p.val.close[:0], stream: true}
	p.argKey(g.Text)
	p.cur.argsAt = p.at()
	p.cur.buf = append(p.cur.buf, '"')
	p.st = inPlain
}

func (p *Parser) endPlain() {
	p.cur.buf = append(p.cur.buf, '"')
	p.finish()
}

// readNest gathers a value with nested elements, counting them.
func (p *Parser) readNest() bool {
	g, s := p.cur.g, p.rest()
	for i := 0; i < len(s); i++ {
		if !g.valueHot[s[i]] {
			continue
		}
		openers, closers := g.nestOpen, g.nestClose
		n, f := p.matchAny(openers, s[i:], nil)
		if f == yes {
			p.val.depth++
			i += n - 1
			continue
		}
		k, f2 := p.matchAny(closers, s[i:], nil)
		if f == more || f2 == more {
			p.valueText(p.pos, p.pos+i)
			return false
		}
		if f2 != yes {
			continue
		}
		if p.val.depth--; p.val.depth < 0 {
			p.valueText(p.pos, p.pos+i)
			p.pos += k
			p.endNest()
			return true
		}
		i += k - 1
	}
	p.valueText(p.pos, len(p.src))
	if p.eof {
		p.truncated()
	}
	return p.eof
}

// endNest makes JSON of a nested value.
func (p *Parser) endNest() {
	v, rest := p.nested(string(p.val.text), 0)
	if strings.TrimSpace(rest) != "" {
		p.broken("nested elements cannot be read", "")
		return
	}
	p.argValue(v)
	p.st = inTagged
}

const maxNest = 100

// nested reads elements: items make a list, arguments an object, text a value.
func (p *Parser) nested(s string, depth int) (json.RawMessage, string) {
	g := p.cur.g
	var list, object []byte
	keys := 0
	for depth < maxNest {
		rest := strings.TrimLeft(s, " \t\r\n")
		var c caps
		isItem := false
		n, f := g.matchWhole(g.item.open, rest, &c)
		if f == yes {
			isItem = true
		} else if n, f = g.matchWhole(g.arg.open, rest, &c); f != yes {
			break
		}
		var v json.RawMessage
		v, s = p.nested(rest[n:], depth+1)
		closers := g.arg.close
		if isItem {
			closers = g.item.close
		}
		rest = strings.TrimLeft(s, " \t\r\n")
		if k, f := g.matchWhole(closers, rest, &caps{}); f == yes {
			s = rest[k:]
		}
		if isItem {
			list = append(append(list, ','), v...)
		} else {
			keys++
			object = append(append(appendString(append(object, ','), c.key), ':'), v...)
		}
	}
	switch {
	case list != nil:
		list[0] = '['
		return append(list, ']'), s
	case object != nil:
		object[0] = '{'
		return append(object, '}'), s
	}
	return g.leaf(s)
}

func (g *gram) matchWhole(list []marker, s string, c *caps) (int, found) {
	for i := range list {
		if n, f := list[i].match(s, true, c); f == yes {
			return n, f
		}
	}
	return 0, no
}

// leaf reads text up to the next closer.
func (g *gram) leaf(s string) (json.RawMessage, string) {
	end := len(s)
	for i := range len(s) {
		if g.valueHot[s[i]] {
			if _, f := g.matchWhole(g.nestClose, s[i:], &caps{}); f == yes {
				end = i
				break
			}
		}
	}
	text := s[:end]
	if g.XML {
		text = html.UnescapeString(text)
	}
	if t := strings.TrimSpace(text); t != "" && strings.IndexByte("{[-0123456789tfn", t[0]) >= 0 && json.Valid([]byte(t)) {
		return json.RawMessage(t), s[end:]
	}
	return quote(text), s[end:]
}
