package parse

import (
	"encoding/json"
	"html"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
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
	drop   bool // the argument was given before
	cdata  bool
	raw    bool // it is taken word for word
	doubt  bool // a closer stands in it with words behind
	depth  int  // of nested arguments and items
}

// openValue begins the value of an argument.
func (p *Parser) openValue(g *gram, c caps) {
	p.val = value{caps: c, text: p.val.text[:0], close: fill(g.arg.close, &c), fresh: true}
	if own, _ := p.tools.Key(p.cur.name, c.key); slices.Contains(p.cur.keys, own) && g.Item.Open == "" {
		p.val.drop = true
		p.fix("/"+own, "", "", "given twice: the first counts")
	} else {
		p.argKey(c.key)
	}
	if p.cur.argsAt == noArgs {
		p.cur.argsAt = p.at()
	}
	p.st = inValue
	if c.closed {
		p.endValue()
	}
}

// kind is what the schema says of the value.
func (p *Parser) kind() schema.Kind { return p.tools.Kind(p.cur.name, p.cur.args.key) }

// isText reports whether the value is text whatever it looks like.
func (p *Parser) isText() bool {
	switch strings.ToLower(p.val.caps.typ) {
	case "":
		return p.kind().Text()
	case "true", "string", "str", "text":
		return true
	}
	return false
}

// mayGuess reports whether a value of which no type is known is read as JSON
// where it can be.
func (p *Parser) mayGuess() bool {
	return p.cur.g.Guess && p.val.caps.typ == "" && p.kind() == schema.Any
}

// freshValue looks at the first bytes of a value: the newline that belongs to
// the opener, nested elements, or how it is to be read.
func (p *Parser) freshValue() bool {
	g, v := p.cur.g, p.view()
	line := 0
	if g.argNewline {
		n, f := lineBreak(v)
		if f == more {
			return false
		}
		line, v = n, v.from(n)
	}
	if len(g.rawOpen) > 0 {
		n, f := rawValue(g, v)
		if f == more {
			return false
		}
		if f == yes {
			p.val.raw, p.val.close = true, g.rawClose
			line, v = line+n, v.from(n)
		}
	}
	if g.Item.Open != "" && p.kind() != schema.String && !p.val.raw {
		_, inner := v.blanks()
		f := fits(g.nestOpen, inner)
		if f == more {
			return false
		}
		if f == yes {
			p.st = inNest
		}
	}
	typed := no
	if p.mayGuess() {
		if typed = mayBeJSON(v); typed == more {
			return false
		}
	}
	p.pos += line
	p.val.fresh = false
	if p.val.stream = p.st == inValue && typed == no && p.isText() && p.kind().Text() && !p.val.drop; p.val.stream {
		p.cur.buf = append(p.cur.buf, '"')
	}
	return true
}

// rawValue is the length of what opens a value that is taken word for word, the
// end of its line included.
func rawValue(g *gram, v view) (int, found) {
	blanks, inner := v.blanks()
	n, f := longest(g.rawOpen, inner, nil)
	if f != yes {
		return 0, f
	}
	line, f := lineBreak(inner.from(n))
	if f == more {
		return 0, more
	}
	return blanks + n + line, yes
}

// mixed reports whether elements follow the text of a value that is no text.
func (p *Parser) mixed(g *gram, v view) found {
	if k := p.kind(); g.Item.Open == "" || p.val.raw || k != schema.Object && k != schema.Array {
		return no
	}
	return fits(g.nestOpen, v)
}

// mayBeJSON reports whether a value of which no type is known begins like a
// number, true, false, null, an object or a list.
func mayBeJSON(v view) found {
	_, v = v.blanks()
	if v.s == "" {
		return v.ask()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		switch {
		case strings.HasPrefix(v.s, word):
			return yes
		case strings.HasPrefix(word, v.s):
			return v.ask()
		}
	}
	if c := v.s[0]; c == '{' || c == '[' || c == '-' || '0' <= c && c <= '9' {
		return yes
	}
	return no
}

// lineBreak is the length of the line end that v begins with.
func lineBreak(v view) (int, found) {
	switch {
	case v.s == "":
		return 0, v.ask()
	case v.s[0] == '\n':
		return 1, yes
	case v.s[0] != '\r':
		return 0, no
	case len(v.s) == 1:
		return 0, v.ask()
	case v.s[1] == '\n':
		return 2, yes
	}
	return 0, no
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
		var end valueEdge
		f := p.mixed(g, p.viewAt(i))
		nests := f == yes
		if f == no {
			end, f = p.valueMarker(g, p.viewAt(i))
		}
		if f == no {
			continue
		}
		p.valueText(from, i)
		if nests {
			p.st = inNest
			return true
		}
		if f == more {
			return false
		}
		p.pos += end.n
		p.edge(g, end, s[i:i+end.n])
		return true
	}
	p.valueText(from, p.wholeRunes())
	if p.end {
		p.truncated()
	}
	return p.end
}

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
	text = valid(text)
	if p.val.drop {
		return
	}
	if !p.val.stream {
		p.val.text = append(p.val.text, text...)
		return
	}
	p.streamText(text)
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
	for _, list := range [...][]marker{g.arg.open, g.argHead, p.cur.closers, g.after, p.val.close} {
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

// endValue types the value and goes back to the next argument.
func (p *Parser) endValue() {
	v := &p.val
	p.cur.argsEnd = p.at()
	p.st = inTagged
	switch {
	case v.drop:
	case v.stream:
		p.cur.buf = append(p.cur.buf, '"')
	case v.fresh && p.isText():
		p.cur.buf = append(p.cur.buf, `""`...)
	case v.caps.typ != "":
		p.argValue(p.typed(string(v.text)))
	case p.mayGuess():
		p.argValue(jsonOrText(string(v.text)))
	default:
		p.untyped(string(v.text))
	}
}

// typed reads a value that is said to be text, or not to be. A string by the
// schema is one.
func (p *Parser) typed(text string) json.RawMessage {
	if p.isText() {
		return quote(text)
	}
	v := jsonOrText(text)
	if p.kind() == schema.String && v[0] != '"' {
		return quote(text)
	}
	return v
}

// untyped reads a value by the schema alone.
func (p *Parser) untyped(text string) {
	raw, fix := p.tools.TextValue(p.cur.name, p.cur.args.key, text)
	if fix != nil {
		p.cur.fixes = append(p.cur.fixes, *fix)
	}
	trimmed := strings.TrimSpace(text)
	if kind := p.kind(); raw[0] == '"' && trimmed != "" && (kind == schema.Array && trimmed[0] == '[' || kind == schema.Object && trimmed[0] == '{') {
		if v, n, fixes, err := lenient.Repair(trimmed, p.mending()); err == nil && strings.TrimSpace(trimmed[n:]) == "" {
			p.cur.fixes = append(p.cur.fixes, under("/"+p.cur.args.key, fixes)...)
			p.argValue(v)
			return
		}
	}
	p.cur.buf = appendCompact(p.cur.buf, raw)
}

// under moves fixes of a value to where it stands.
func under(path string, fixes []utp.Fix) []utp.Fix {
	for i := range fixes {
		fixes[i].Path = path + fixes[i].Path
	}
	return fixes
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

// plainBody begins a body that is plain text, of the dialect's argument. A tool
// that has none of that name gets it as its only one, but no text that begins as
// one of its arguments: "path: a.go".
func (p *Parser) plainBody(v view) bool {
	n, none := nothing(v)
	switch {
	case none == more:
		return false
	case none == yes && p.needsNothing(p.cur.name):
		p.fix("", v.s[:n], "", "words for no arguments")
		p.pos += n
		p.finish()
		return true
	}
	key, order := p.cur.g.Text, p.tools.Order(p.cur.name)
	if sole := p.soleText(); sole != "" && none == no && !slices.Contains(order, key) {
		pair, f := pairOf(order, v)
		if f == more {
			return false
		}
		if !pair {
			p.fix("/"+sole, "", sole, "a lone value for the only argument")
			key = sole
		}
	}
	p.openPlain(key)
	return true
}

// nothing finds a word for no arguments that is all of its line.
func nothing(v view) (int, found) {
	for _, word := range []string{"none", "null", "n/a", "nothing", "empty", "no input", "(none)"} {
		n, f := matchLiteral(v.s, word)
		if f == more && v.ask() == more {
			return 0, more
		}
		if f == yes {
			if f = lineEnd(v.from(n)); f != no {
				return n, f
			}
		}
	}
	return 0, no
}

// pairOf reports whether a text begins with one of the keys and "=", ":" or "(".
func pairOf(keys []string, v view) (ok bool, f found) {
	n := 0
	for n < len(v.s) && isNameByte(v.s[n]) {
		n++
	}
	_, rest := v.from(n).blanks()
	if rest.s == "" {
		return false, rest.ask()
	}
	return strings.IndexByte("=:(", rest.s[0]) >= 0 && slices.Contains(keys, v.s[:n]), yes
}

// openPlain begins a body that is plain text.
func (p *Parser) openPlain(key string) {
	p.val = value{caps: caps{key: key}, text: p.val.text[:0], stream: true}
	p.argKey(key)
	p.cur.argsAt = p.at()
	p.cur.buf = append(p.cur.buf, '"')
	p.st = inPlain
}

// readPlain reads a body that is one argument's text, up to the call's closer.
func (p *Parser) readPlain() bool {
	g, s := p.cur.g, p.rest()
	closers := p.cur.closers
	if p.message != nil {
		closers = g.end
	}
	for i := 0; i < len(s); i++ {
		if !g.skipHot[s[i]] && s[i] != '\n' {
			continue
		}
		blanks, v := p.plainEnd(p.viewAt(p.pos + i))
		n, f := longest(closers, v, nil)
		if f == no && !(g.Line && s[i] == '\n') {
			continue
		}
		p.valueText(p.pos, p.pos+i)
		if f == more {
			return false
		}
		if f == yes && p.message == nil {
			p.pos += blanks + n
			p.cur.buf = append(p.cur.buf, '"')
			p.finishClosed()
			return true
		}
		p.endPlain()
		return true
	}
	p.valueText(p.pos, p.wholeRunes())
	if p.end {
		if p.cut || g.segments() || p.closerDue() {
			p.truncated()
		} else {
			p.endPlain()
		}
	}
	return p.end
}

// plainEnd passes over what may stand between a text and its closer: blanks, but
// in a text behind a header the one end of a line.
func (p *Parser) plainEnd(v view) (int, view) {
	if p.cur.g.Body != grammar.JSON {
		return v.blanks()
	}
	n, f := lineBreak(v)
	if f == yes {
		return n, v.from(n)
	}
	return 0, v
}

func (p *Parser) endPlain() {
	p.cur.buf = append(p.cur.buf, '"')
	p.finish()
}
