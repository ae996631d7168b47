package parse

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// repeats reports whether an argument that is written more than once is a list,
// an element each time.
func (p *Parser) repeats(key string) bool {
	if p.cur.g.Item.Open == "" {
		return false
	}
	switch p.tools.Kind(p.cur.name, key) {
	case schema.Array, schema.Mixed:
		return true
	}
	return false
}

// again notes that an argument comes a second time: from here on nothing is
// sent until the values can be compared.
func (p *Parser) again(key string) {
	c := &p.cur
	if c.twiceAt > 0 || !slices.Contains(c.keys, key) {
		return
	}
	p.flush()
	c.twiceAt, c.holds = len(c.buf), true
}

// settleTwice makes one argument of those that were given more than once: of
// equal values the first counts, elements that repeat are a list. Two different
// values of one argument are nothing to choose from.
func (p *Parser) settleTwice(fields []body.Field) {
	c := &p.cur
	kept := make([]body.Field, 0, len(fields))
	at := map[string]int{}
	lists := map[string][]json.RawMessage{}
	for _, f := range fields {
		i, twice := at[f.Key]
		switch {
		case !twice:
			at[f.Key] = len(kept)
			kept = append(kept, f)
		case p.repeats(f.Key):
			if lists[f.Key] == nil {
				lists[f.Key] = body.Elements(kept[i].Value)
			}
			lists[f.Key] = append(lists[f.Key], body.Elements(f.Value)...)
		case body.Same(kept[i].Value, f.Value):
			p.fix("/"+f.Key, string(f.Value), "", "given twice")
		default:
			c.twice = f.Key
		}
	}
	c.buf = c.buf[:0]
	for i, f := range kept {
		v := f.Value
		if list := lists[f.Key]; list != nil {
			typed, fixes := p.tools.Value(c.name, f.Key, body.List(list))
			v, c.fixes = typed, append(c.fixes, fixes...)
		}
		c.buf = append(c.buf, "{,"[min(i, 1)])
		c.buf = append(body.AppendString(c.buf, f.Key), ':')
		c.buf = body.AppendCompact(c.buf, v)
	}
	c.buf = append(c.buf, '}')
}

// contradicts is the Problem of a call that says two things at once: two values
// of one argument, two names, or arguments twice.
func (p *Parser) contradicts() *utp.Problem {
	key := p.cur.twice
	if key == "" {
		return nil
	}
	return &utp.Problem{Kind: utp.ProblemMalformed, Message: key + " is given twice, with different values", Want: "one value of " + key}
}

// sameTwice compares the fields of a call object that came a second time with
// what the first said.
func (e *element) sameTwice(p *Parser) {
	c := &p.cur
	for _, f := range e.others {
		var text string
		_ = json.Unmarshal(f.Value, &text)
		switch {
		case f.lone != keyed:
		case f.Key == e.nameKey:
			if own, _, _ := p.tools.resolve(text); own == c.name {
				p.fix("", string(f.Value), "", "given twice")
				continue
			}
			c.twice = f.Key
		case f.Key == e.argsKey && e.hasArgs:
			if f.Value[0] == '"' {
				f.Value = json.RawMessage(text)
			}
			if body.Same(f.Value, bytes.TrimSpace(closed(c))) {
				p.fix("", e.argsKey, "", "given twice")
				continue
			}
			c.twice = f.Key
		}
	}
}

// closed is the arguments' JSON so far.
func closed(c *call) []byte {
	if len(c.keys) == 0 {
		return []byte("{}")
	}
	return append(bytes.Clone(c.buf), '}')
}
