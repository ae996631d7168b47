package schema

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp/lenient"
)

// guess tries what v may have been meant as.
func (c *coercer) guess(path string, want, atoms []*js, v node) node {
	if c.nest >= maxNest {
		return v
	}
	c.nest++
	defer func() { c.nest-- }()
	m := types(atoms)
	for _, g := range []func(string, []*js, []*js, mask, node) (node, bool){c.choice, c.scalar, c.unpack, c.branch, c.wrap, c.only} {
		before := len(c.fixes)
		if out, ok := g(path, want, atoms, m, v); ok {
			return out
		}
		c.fixes = c.fixes[:before]
	}
	return v
}

// choice takes the one listed value that v is near to.
func (c *coercer) choice(path string, want, atoms []*js, _ mask, v node) (node, bool) {
	for _, s := range atoms {
		pick, ok := nearest(listed(s), v)
		if ok && c.fits(want, pick) {
			c.fix(path, v.raw, pick.raw, "one of the listed values")
			return pick, true
		}
	}
	return v, false
}

// nearest finds the only listed value that v is another spelling of.
func nearest(values []any, v node) (node, bool) {
	written := string(v.raw)
	if v.kind == '"' {
		written = v.text()
	}
	if v.kind != '"' && v.kind != '0' && v.kind != 't' {
		return v, false
	}
	for _, same := range []func(a, b string) bool{trimmedEqual, strings.EqualFold, foldEqual} {
		var hits []node
		for _, value := range values {
			n, ok := scalarNode(value)
			if ok && same(spelling(n), written) {
				hits = append(hits, n)
			}
		}
		if len(hits) == 1 {
			return hits[0], true
		}
	}
	return v, false
}

func trimmedEqual(a, b string) bool { return a == strings.Trim(b, " \t\r\n\"'") }

func foldEqual(a, b string) bool { return fold(a) == fold(b) && fold(a) != "" }

func spelling(n node) string {
	if n.kind == '"' {
		return n.text()
	}
	return string(n.raw)
}

// scalarNode writes a text, a number or a boolean of a schema as a value.
func scalarNode(v any) (node, bool) {
	switch v := v.(type) {
	case string:
		return textNode(v), true
	case json.Number:
		return literalNode(json.RawMessage(v)), true
	case bool:
		return literalNode(strconv.AppendBool(nil, v)), true
	}
	return node{}, false
}

// scalar turns one scalar type into another.
func (c *coercer) scalar(path string, want, _ []*js, m mask, v node) (node, bool) {
	lit, why := convert(m, v)
	if lit == "" {
		return v, false
	}
	var out node
	if lit[0] == '"' {
		out = stringNode(json.RawMessage(lit))
	} else {
		out = literalNode(json.RawMessage(lit))
	}
	if !c.fits(want, out) {
		return v, false
	}
	c.fix(path, v.raw, out.raw, why)
	return out, true
}

// convert gives the JSON of v as one of the types in m, or "".
func convert(m mask, v node) (lit, why string) {
	only := m &^ nullBit
	switch {
	case v.kind == '"' && m&strBit == 0:
		return fromText(m, v.text())
	case v.kind == '0' && only == boolBit && (string(v.raw) == "0" || string(v.raw) == "1"):
		return strconv.FormatBool(string(v.raw) == "1"), "true or false is wanted"
	case (v.kind == '0' && m&numBits == 0 || v.kind == 't' && m&boolBit == 0) && m&strBit != 0:
		return string(quote(string(v.raw))), "a string is wanted"
	}
	return "", ""
}

func fromText(m mask, text string) (lit, why string) {
	text = strings.Trim(text, " \t\r\n\"'")
	if m&numBits != 0 {
		if lit, ok := number(text); ok {
			if m&numBits == intBit {
				lit, ok = integral(lit)
			}
			if ok {
				return lit, "a number is wanted"
			}
		}
	}
	if m&boolBit != 0 {
		if b, ok := boolean(text, m&^nullBit == boolBit); ok {
			return strconv.FormatBool(b), "true or false is wanted"
		}
	}
	if m&nullBit != 0 && isNull(text) {
		return "null", "null is allowed"
	}
	return "", ""
}

// unpack reads a text that holds the JSON or the Python literal of a list or
// an object. The text is taken for one even if members of it do not fit.
func (c *coercer) unpack(path string, want, _ []*js, m mask, v node) (node, bool) {
	if v.kind != '"' || m&strBit != 0 || m&(arrBit|objBit) == 0 {
		return v, false
	}
	inner, why, ok := container(v.text())
	if !ok || inner.kind == '{' && m&objBit == 0 || inner.kind == '[' && m&arrBit == 0 {
		return v, false
	}
	c.fix(path, v.raw, inner.raw, why)
	return c.fit(path, want, inner), true
}

// container reads an array or an object out of text, which may be quoted more than
// once. One with a member that stands there twice, with different values, stays text.
func container(text string) (n node, why string, ok bool) {
	for range 3 {
		n, err := parse([]byte(text))
		switch {
		case err != nil:
			raw, ok := python(text)
			if !ok {
				return n, "", false
			}
			n, _ = parse(raw)
			return n, "a Python literal in a string", n.twice == ""
		case n.kind == '{' || n.kind == '[':
			return n, "JSON in a string", n.twice == ""
		case n.kind != '"':
			return n, "", false
		}
		text = n.text()
	}
	return n, "", false
}

// python turns a Python list, tuple or dict literal into JSON. What is no literal,
// or has to be guessed at, is none.
func python(text string) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.IndexByte("[{(", text[0]) < 0 {
		return nil, false
	}
	out, n, fixes, err := lenient.Repair(text, lenient.Options{Python: true})
	guessed := slices.ContainsFunc(fixes, func(f lenient.Fix) bool { return f.Why != lenient.BareKey && f.Why != lenient.Evaluated })
	return out, err == nil && n == len(text) && !guessed
}

// branch fits v to the alternatives of anyOf and oneOf, one by one.
func (c *coercer) branch(path string, want, atoms []*js, _ mask, v node) (node, bool) {
	for _, s := range atoms {
		for _, b := range branches(s) {
			before := len(c.fixes)
			out := c.fit(path, []*js{b}, v)
			if c.fits(want, out) {
				return out, true
			}
			c.fixes = c.fixes[:before]
		}
	}
	return v, false
}

// wrap puts a lone value into the list that is wanted.
func (c *coercer) wrap(path string, want, _ []*js, m mask, v node) (node, bool) {
	if m&arrBit == 0 || v.kind == '[' || v.isNull() || m&typeOf(v.val) != 0 || v.kind == '"' && !plainText(v.text()) {
		return v, false
	}
	list := listNode(v)
	c.fix(path, v.raw, list.raw, "a list is wanted")
	out := c.fit(path, want, list)
	return out, c.fits(want, out)
}

// only takes the list that is wanted out of an object whose only member holds its
// elements, as XML names them: <tags><tag>a</tag><tag>b</tag></tags>.
func (c *coercer) only(path string, want, _ []*js, m mask, v node) (node, bool) {
	if m&arrBit == 0 || m&objBit != 0 || v.kind != '{' || len(v.kids) != 1 {
		return v, false
	}
	list := v.kids[0]
	if list.kind != '[' {
		list = listNode(list)
	}
	c.fix(path, v.raw, list.raw, "a list is wanted, and "+v.keys[0].name+" holds it")
	out := c.fit(path, want, list)
	return out, c.fits(want, out)
}

// plainText tells text that may be an element from text that is empty or was
// meant to be a list or an object.
func plainText(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && text[0] != '[' && text[0] != '{'
}
