package parse

import (
	"slices"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// plainBody begins a body that is plain text, of the dialect's argument. A tool
// that has none of that name gets it as its only one, but no text that begins as
// one of its arguments: "path: a.go".
func (p *Parser) plainBody(v scan.View) bool {
	n, none := body.Nothing(v)
	switch {
	case none == scan.More:
		return false
	case none == scan.Yes && p.tools.needsNothing(p.cur.name):
		p.fix("", v.S[:n], "", "words that mean no arguments")
		p.pos += n
		p.finish()
		return true
	}
	key, order := p.cur.g.Text, p.tools.Order(p.cur.name)
	if sole := p.soleText(); sole != "" && none == scan.No && !slices.Contains(order, key) {
		pair, f := body.IsPair(order, v)
		if f == scan.More {
			return false
		}
		if !pair {
			p.guess("/"+sole, "", sole, "a lone value for the only argument")
			key = sole
		}
	}
	p.openPlain(key)
	return true
}

// openPlain begins a body that is plain text.
func (p *Parser) openPlain(key string) {
	*p.cur.val = value{caps: scan.Caps{Key: key}, text: p.cur.val.text[:0], stream: true}
	p.argKey(key)
	p.cur.argsAt = p.at()
	p.cur.buf = append(p.cur.buf, '"')
	p.st = inPlain
}

// readPlain reads a body that is one argument's text, up to the call's closer.
func (p *Parser) readPlain() bool {
	g, s := p.cur.g, p.rest()
	closers := p.cur.closers
	if p.now.message != nil {
		closers = g.end
	}
	for i := 0; i < len(s); i++ {
		if !g.skipHot[s[i]] && s[i] != '\n' {
			continue
		}
		blanks, v := p.plainEnd(p.viewAt(p.pos + i))
		n, f := scan.Longest(closers, v, nil)
		if f == scan.No && !(g.Line && s[i] == '\n') {
			continue
		}
		p.valueText(p.pos, p.pos+i)
		if f == scan.More {
			return false
		}
		if f == scan.Yes && p.now.message == nil {
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
// in a text after a header the one end of a line.
func (p *Parser) plainEnd(v scan.View) (int, scan.View) {
	if p.cur.g.Body != grammar.JSON {
		return v.Blanks()
	}
	n, f := body.LineBreak(v)
	if f == scan.Yes {
		return n, v.From(n)
	}
	return 0, v
}

func (p *Parser) endPlain() {
	p.cur.buf = append(p.cur.buf, '"')
	p.finish()
}
