package parse

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/lenient"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// value is the tagged argument being read.
type value struct {
	caps   scan.Caps
	close  []scan.Marker
	text   []byte // what does not stream
	stream bool
	fresh  bool // nothing was read yet
	cdata  bool
	raw    bool // it is taken word for word
	quoted bool // it begins with a quote, and may be a JSON string
	doubt  bool // a closer stands in it with words after
	depth  int  // of nested arguments and items
	talk   talk
}

// openValue begins the value of an argument.
func (p *Parser) openValue(g *gram, c scan.Caps) {
	*p.cur.val = value{caps: c, text: p.cur.val.text[:0], close: scan.Fill(g.arg.close, &c), fresh: true}
	p.argKey(c.Key)
	if p.cur.argsAt == noArgs {
		p.cur.argsAt = p.at()
	}
	p.st = inValue
	if c.Closed {
		p.endValue()
	}
}

// kind is what the schema says of the value.
func (p *Parser) kind() schema.Kind { return p.tools.Kind(p.cur.name, p.cur.args.key) }

// isText reports whether the value is text whatever it looks like.
func (p *Parser) isText() bool {
	switch strings.ToLower(p.cur.val.caps.Typ) {
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
	return p.cur.g.Guess && p.cur.val.caps.Typ == "" && p.kind() == schema.Any
}

// freshValue looks at the first bytes of a value: the newline that belongs to
// the opener, nested elements, or how it is to be read.
func (p *Parser) freshValue() bool {
	g, v := p.cur.g, p.view()
	line := 0
	if g.argNewline {
		n, f := body.LineBreak(v)
		if f == scan.More {
			return false
		}
		line, v = n, v.From(n)
	}
	if len(g.rawOpen) > 0 {
		n, f := body.RawBegins(g.rawOpen, v)
		if f == scan.More {
			return false
		}
		if f == scan.Yes {
			p.cur.val.raw, p.cur.val.close = true, g.rawClose
			line, v = line+n, v.From(n)
		}
	}
	if g.Item.Open != "" && p.kind() != schema.String && !p.cur.val.raw {
		_, inner := v.Blanks()
		f := scan.Fits(g.nest.Open, inner)
		if f == scan.More {
			return false
		}
		if f == scan.Yes {
			p.st = inNest
		}
	}
	typed := scan.No
	if p.mayGuess() {
		if typed = body.MayBeJSON(v); typed == scan.More {
			return false
		}
	}
	quoted := g.Quoted && p.cur.val.caps.Typ == "" && (p.isText() || p.mayGuess())
	if quoted && v.S == "" && v.Ask() == scan.More {
		return false
	}
	p.cur.val.quoted = quoted && v.S != "" && v.S[0] == '"'
	if p.cur.val.quoted {
		typed = scan.Yes
	}
	p.pos += line
	p.cur.val.fresh = false
	if p.cur.val.stream = p.st == inValue && typed == scan.No && p.isText() && p.kind().Text(); p.cur.val.stream {
		p.cur.buf = append(p.cur.buf, '"')
	}
	return true
}

// mixed reports whether elements follow the text of a value that is no text.
func (p *Parser) mixed(g *gram, v scan.View) scan.Found {
	if k := p.kind(); g.Item.Open == "" || p.cur.val.raw || k != schema.Object && k != schema.Array {
		return scan.No
	}
	return scan.Fits(g.nest.Open, v)
}

// readValue reads a value up to its closer.
func (p *Parser) readValue() bool {
	if p.cur.val.fresh && !p.freshValue() {
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
		nests := f == scan.Yes
		if f == scan.No {
			end, f = p.valueMarker(g, p.viewAt(i))
		}
		if f == scan.No {
			continue
		}
		p.valueText(from, i)
		if nests {
			p.st = inNest
			return true
		}
		if f == scan.More {
			return false
		}
		p.pos += end.n
		p.edge(g, end, s[i:i+end.n])
		return true
	}
	p.valueText(from, p.wholeRunes())
	switch {
	case p.end && p.cur.val.talk.waits() && !p.cut:
		p.noTalk()
	case p.end:
		p.truncated()
	}
	return p.end
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
	text = body.Valid(text)
	if !p.heldTalk(text) {
		p.addContent(text)
	}
}

func (p *Parser) addContent(text string) {
	if !p.cur.val.stream {
		p.cur.val.text = append(p.cur.val.text, text...)
		return
	}
	p.streamText(text)
}

// endValue types the value and goes back to the next argument.
func (p *Parser) endValue() {
	v := p.cur.val
	p.heldTalk("")
	p.cur.argsEnd = p.at()
	p.st = inTagged
	switch {
	case v.stream:
		p.cur.buf = append(p.cur.buf, '"')
	case v.quoted && p.unquoted(string(v.text)):
	case v.fresh && p.isText():
		p.cur.buf = append(p.cur.buf, `""`...)
	case v.caps.Typ != "":
		p.argValue(p.typed(string(v.text)))
	case p.mayGuess():
		p.argValue(body.JSONOrText(string(v.text)))
	default:
		p.untyped(string(v.text))
	}
}

// unquoted takes a value that is a JSON string from end to end for what that says.
func (p *Parser) unquoted(text string) bool {
	v, n, fixes, err := lenient.Repair(text, p.mending())
	if err != nil || v[0] != '"' || strings.TrimSpace(text[n:]) != "" || len(text) < 2 || text[n-1] != '"' {
		return false
	}
	p.cur.fixes = append(p.cur.fixes, under("/"+p.cur.args.key, utp.Fixes(fixes))...)
	p.argValue(v)
	return true
}

// typed reads a value that is said to be text, or not to be. A string by the
// schema is one.
func (p *Parser) typed(text string) json.RawMessage {
	if p.isText() {
		return body.Quote(text)
	}
	v := body.JSONOrText(text)
	if p.kind() == schema.String && v[0] != '"' {
		return body.Quote(text)
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
			p.cur.fixes = append(p.cur.fixes, under("/"+p.cur.args.key, utp.Fixes(fixes))...)
			p.argValue(v)
			return
		}
	}
	p.cur.buf = body.AppendCompact(p.cur.buf, raw)
}

// under moves fixes of a value to where it stands.
func under(path string, fixes []utp.Fix) []utp.Fix {
	for i := range fixes {
		fixes[i].Path = path + fixes[i].Path
	}
	return fixes
}
