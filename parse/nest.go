package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
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
		n, open := scan.Longest(g.nest.Open, v, nil)
		k, shut := scan.Longest(g.nest.Close, v, nil)
		switch {
		case open == scan.Yes:
			p.cur.val.depth++
			i += n - 1
		case open == scan.More || shut == scan.More:
			p.valueText(p.pos, p.pos+i)
			return false
		case shut == scan.Yes:
			if p.cur.val.depth--; p.cur.val.depth < 0 {
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
	v, rest := p.cur.g.nest.Read(string(p.cur.val.text), p.typedBySchema() || !p.cur.g.Guess, &p.work)
	if strings.TrimSpace(rest) != "" {
		p.broken("nested elements cannot be read", "")
		return
	}
	typed, fixes := p.tools.Value(p.cur.name, p.cur.args.key, v)
	for _, f := range fixes {
		if f.Was != string(body.Quote(f.Now)) { // text is what the dialect writes
			p.cur.fixes = append(p.cur.fixes, f)
		}
	}
	p.cur.buf = body.AppendCompact(p.cur.buf, typed)
	p.st = inTagged
}

// typedBySchema reports whether the schema knows the argument, so that it types the
// texts inside.
func (p *Parser) typedBySchema() bool {
	return p.cur.declared && slices.Contains(p.tools.Order(p.cur.name), p.cur.args.key)
}
