package parse

import (
	"encoding/json"
	"html"
	"slices"
	"strings"
)

// readNest gathers a value with nested elements, counting them.
func (p *Parser) readNest() bool {
	g, s := p.cur.g, p.rest()
	for i := 0; i < len(s); i++ {
		if !g.valueHot[s[i]] {
			continue
		}
		v := p.viewAt(p.pos + i)
		n, open := longest(g.nestOpen, v, nil)
		k, shut := longest(g.nestClose, v, nil)
		switch {
		case open == yes:
			p.val.depth++
			i += n - 1
		case open == more || shut == more:
			p.valueText(p.pos, p.pos+i)
			return false
		case shut == yes:
			if p.val.depth--; p.val.depth < 0 {
				p.valueText(p.pos, p.pos+i)
				p.pos += k
				p.endNest()
				return true
			}
			i += k - 1
		}
	}
	p.valueText(p.pos, p.wholeRunes())
	if p.end {
		p.truncated()
	}
	return p.end
}

// endNest makes JSON of a nested value.
func (p *Parser) endNest() {
	p.cur.argsEnd = p.at()
	if p.val.drop {
		p.st = inTagged
		return
	}
	v, rest := p.nested(string(p.val.text), 0)
	if strings.TrimSpace(rest) != "" {
		p.broken("nested elements cannot be read", "")
		return
	}
	typed, _ := p.tools.Value(p.cur.name, p.cur.args.key, v) // text is what the dialect writes: no Fix
	p.cur.buf = appendCompact(p.cur.buf, typed)
	p.st = inTagged
}

const maxNest = 100

// nested reads elements: items make a list, arguments an object, text a value.
func (p *Parser) nested(s string, depth int) (json.RawMessage, string) {
	g := p.cur.g
	var list, object []byte
	for depth < maxNest {
		var c caps
		rest := strings.TrimLeft(s, " \t\r\n")
		n, isItem := p.matchWhole(g.item.open, rest, &c)
		if !isItem {
			var isArg bool
			if n, isArg = p.matchWhole(g.arg.open, rest, &c); !isArg {
				break
			}
		}
		v, behind := p.nested(rest[n:], depth+1)
		s = p.dropCloser(behind, isItem)
		if isItem {
			list = append(append(list, ','), v...)
		} else {
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
	return p.leaf(s)
}

// dropCloser takes the closer of an element off, if it is there.
func (p *Parser) dropCloser(s string, isItem bool) string {
	closers := p.cur.g.arg.close
	if isItem {
		closers = p.cur.g.item.close
	}
	rest := strings.TrimLeft(s, " \t\r\n")
	if n, ok := p.matchWhole(closers, rest, &caps{}); ok {
		return rest[n:]
	}
	return s
}

// matchWhole fits the first of the markers to a text that is complete.
func (p *Parser) matchWhole(list []marker, s string, c *caps) (int, bool) {
	for i := range list {
		if n, f := list[i].match(viewOf(s, true, &p.work), c); f == yes {
			return n, true
		}
	}
	return 0, false
}

// leaf reads text up to the next closer.
func (p *Parser) leaf(s string) (json.RawMessage, string) {
	g := p.cur.g
	end := len(s)
	for i := range len(s) {
		if g.valueHot[s[i]] {
			if _, ok := p.matchWhole(g.nestClose, s[i:], &caps{}); ok {
				end = i
				break
			}
		}
	}
	text := s[:end]
	if g.XML {
		text = html.UnescapeString(text)
	}
	if p.typedBySchema() {
		return quote(text), s[end:]
	}
	if t := strings.TrimSpace(text); t != "" && strings.IndexByte("{[-0123456789tfn", t[0]) >= 0 && json.Valid([]byte(t)) {
		return json.RawMessage(t), s[end:]
	}
	return quote(text), s[end:]
}

// typedBySchema reports whether the schema knows the argument, so that it types the
// texts inside.
func (p *Parser) typedBySchema() bool {
	return p.cur.declared && slices.Contains(p.tools.Order(p.cur.name), p.cur.args.key)
}
