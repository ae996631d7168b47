package parse

import (
	"encoding/json"
	"html"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// readNest gathers a value with nested elements, counting them.
func (p *Parser) readNest() bool {
	g, s := p.cur.g, p.rest()
	for i := 0; i < len(s); i++ {
		if !g.valueHot[s[i]] {
			continue
		}
		v := p.viewAt(p.pos + i)
		n, open := scan.Longest(g.nestOpen, v, nil)
		k, shut := scan.Longest(g.nestClose, v, nil)
		switch {
		case open == scan.Yes:
			p.val.depth++
			i += n - 1
		case open == scan.More || shut == scan.More:
			p.valueText(p.pos, p.pos+i)
			return false
		case shut == scan.Yes:
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
// An argument that is there more than once is a list, and text beside elements
// is the argument "$text".
func (p *Parser) nested(s string, depth int) (json.RawMessage, string) {
	g := p.cur.g
	var list []json.RawMessage
	var object members
	for depth < maxNest {
		var c scan.Caps
		text, rest := p.beforeElement(s)
		n, isItem := p.matchWhole(g.item.open, rest, &c)
		if !isItem {
			var isArg bool
			if n, isArg = p.matchWhole(g.arg.open, rest, &c); !isArg {
				break
			}
		}
		if strings.TrimSpace(text) != "" {
			object.text += text
		}
		v, behind := p.nested(rest[n:], depth+1)
		s = p.dropCloser(behind, isItem)
		if isItem {
			list = append(list, v)
		} else {
			object.add(c.Key, v)
		}
	}
	switch {
	case len(list) > 0 && object.text == "" && object.keys == nil:
		return listOf(list), s
	case len(list) > 0:
		object.add("item", listOf(list))
	case object.keys == nil:
		return p.leaf(s)
	}
	text, s := p.untilCloser(s)
	if strings.TrimSpace(text) != "" {
		object.text += text
	}
	return object.json(), s
}

// members are the elements of an object in the order of their first occurrence.
type members struct {
	keys   []string
	values map[string][]json.RawMessage
	text   string
}

func (m *members) add(key string, v json.RawMessage) {
	if m.values == nil {
		m.values = map[string][]json.RawMessage{}
	}
	if m.values[key] == nil {
		m.keys = append(m.keys, key)
	}
	m.values[key] = append(m.values[key], v)
}

func (m *members) json() json.RawMessage {
	if m.text != "" {
		m.add("$text", quote(m.text))
	}
	out := []byte{'{'}
	for i, key := range m.keys {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, key), ':')
		if all := m.values[key]; len(all) == 1 {
			out = append(out, all[0]...)
		} else {
			out = append(out, listOf(all)...)
		}
	}
	return append(out, '}')
}

func listOf(values []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// beforeElement splits s where an element begins, at the latest where one ends.
func (p *Parser) beforeElement(s string) (text, rest string) {
	g := p.cur.g
	for i := range len(s) {
		if !g.valueHot[s[i]] {
			continue
		}
		if _, ok := p.matchWhole(g.nestOpen, s[i:], &scan.Caps{}); ok {
			return s[:i], s[i:]
		}
		if _, ok := p.matchWhole(g.nestClose, s[i:], &scan.Caps{}); ok {
			break
		}
	}
	return "", strings.TrimLeft(s, " \t\r\n")
}

// untilCloser splits s where an element ends.
func (p *Parser) untilCloser(s string) (text, rest string) {
	for i := range len(s) {
		if p.cur.g.valueHot[s[i]] {
			if _, ok := p.matchWhole(p.cur.g.nestClose, s[i:], &scan.Caps{}); ok {
				return s[:i], s[i:]
			}
		}
	}
	return s, ""
}

// dropCloser takes the closer of an element off, if it is there.
func (p *Parser) dropCloser(s string, isItem bool) string {
	closers := p.cur.g.arg.close
	if isItem {
		closers = p.cur.g.item.close
	}
	rest := strings.TrimLeft(s, " \t\r\n")
	if n, ok := p.matchWhole(closers, rest, &scan.Caps{}); ok {
		return rest[n:]
	}
	return s
}

// matchWhole fits the first of the markers to a text that is complete.
func (p *Parser) matchWhole(list []scan.Marker, s string, c *scan.Caps) (int, bool) {
	for i := range list {
		if n, f := list[i].Match(scan.ViewOf(s, true, &p.work), c); f == scan.Yes {
			return n, true
		}
	}
	return 0, false
}

// leaf reads text up to the next closer.
func (p *Parser) leaf(s string) (json.RawMessage, string) {
	text, rest := p.untilCloser(s)
	if p.cur.g.XML {
		text = html.UnescapeString(text)
	}
	if p.typedBySchema() {
		return quote(text), rest
	}
	if t := strings.TrimSpace(text); t != "" && strings.IndexByte("{[-0123456789tfn", t[0]) >= 0 && json.Valid([]byte(t)) {
		return json.RawMessage(t), rest
	}
	return quote(text), rest
}

// typedBySchema reports whether the schema knows the argument, so that it types the
// texts inside.
func (p *Parser) typedBySchema() bool {
	return p.cur.declared && slices.Contains(p.tools.Order(p.cur.name), p.cur.args.key)
}
