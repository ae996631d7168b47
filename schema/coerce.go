package schema

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/unifiedtoolprotocol/utp"
)

// coercer changes a value until it fits its schemas. It generates what the
// value may have been meant as and keeps the first candidate that validates;
// a value that fits is not touched. One coercer serves one value.
type coercer struct {
	shape *shape
	fixes []utp.Fix
	nest  int // guesses within guesses about one value
	work  int // schemas applied so far
	limit int // of work; beyond it nothing is changed at all
}

// maxNest bounds guesses within guesses: a branch of a branch, a list around a list.
const maxNest = 6

func newCoercer(sh *shape, n node) *coercer {
	return &coercer{shape: sh, limit: 20_000 + 200*n.size}
}

// spent reports that the value was too much work; what it did must be dropped.
func (c *coercer) spent() bool { return c.work > c.limit }

func (c *coercer) fits(want []*js, v node) bool {
	for _, s := range want {
		c.work += c.shape.cost(s, &v)
	}
	return !c.spent() && !slices.ContainsFunc(want, func(s *js) bool { return !valid(s, v.val) })
}

func (c *coercer) fix(path string, was, now json.RawMessage, why string) {
	c.fixes = append(c.fixes, utp.Fix{Path: path, Was: shorten(string(was), maxFix), Now: shorten(string(now), maxFix), Why: why})
}

// fit gives v as want has it: v itself, if it fits already; else the first
// reading of it that fits; else v with those of its members changed that can be.
func (c *coercer) fit(path string, want []*js, v node) node {
	ok := c.fits(want, v)
	if ok && !v.loose || c.spent() || len(want) == 0 {
		return v
	}
	atoms := flatten(want, v.val)
	switch v.kind {
	case '{':
		v = c.object(path, atoms, v, ok)
	case '[':
		v = c.array(path, atoms, v)
	case '0':
		v = c.whole(path, atoms, v)
	}
	if ok || c.fits(want, v) {
		return v
	}
	return c.guess(path, want, atoms, v)
}

// object fits the members. In an object that does not fit, near names of its
// members are put right, and a null that is not allowed and not needed goes.
func (c *coercer) object(path string, atoms []*js, v node, fits bool) node {
	if !fits {
		v = c.rename(path, atoms, v)
	}
	out := node{kind: '{', keys: make([]key, 0, len(v.keys)), kids: make([]node, 0, len(v.kids))}
	changed := false
	for i, k := range v.keys {
		at, want, kid := path+"/"+escape(k.name), member(atoms, k.name), v.kids[i]
		if (kid.kind == 'n' || kid.isNull() && types(flatten(want, nil))&strBit == 0) && c.droppable(atoms, want, k.name, kid) {
			c.fix(at, kid.raw, nil, "null for an optional argument")
			changed = true
			continue
		}
		now := c.fit(at, want, kid)
		changed = changed || !same(now, kid)
		out.keys, out.kids = append(out.keys, k), append(out.kids, now)
	}
	return settle(v, out, changed)
}

// same reports whether b is a as it was; a value is never changed in place.
func same(a, b node) bool { return string(a.raw) == string(b.raw) }

// settle gives the new container if anything in it changed.
func settle(was, now node, changed bool) node {
	if !changed {
		return was
	}
	now.rebuild()
	return now
}

// isNull reports whether a value is null, or the text of it.
func (n node) isNull() bool { return n.kind == 'n' || n.kind == '"' && n.text() == "null" }

func (c *coercer) droppable(atoms, want []*js, name string, v node) bool {
	return len(want) > 0 && !c.fits(want, v) && !needs(reach(atoms), name)
}

// rename puts right the names of members: those that the schema does not know
// and that are near to one name that it knows and the object lacks.
func (c *coercer) rename(path string, atoms []*js, v node) node {
	var folded map[string][]string
	out := node{kind: '{', keys: slices.Clone(v.keys), kids: v.kids}
	changed := false
	for i, k := range v.keys {
		if knows(atoms, k.name) {
			continue
		}
		if folded == nil {
			folded = foldNames(properties(atoms))
		}
		name, ok := near(folded, k.name)
		if _, taken := out.find(name); !ok || taken {
			continue
		}
		out.keys[i] = key{name, quote(name)}
		c.fix(path+"/"+escape(name), json.RawMessage(k.name), json.RawMessage(name), whyKey)
		changed = true
	}
	return settle(v, out, changed)
}

// whyKey explains a Fix of an argument's name.
const whyKey = "the argument's name in the schema"

func (c *coercer) array(path string, atoms []*js, v node) node {
	out := node{kind: '[', kids: make([]node, len(v.kids))}
	changed := false
	for i, kid := range v.kids {
		out.kids[i] = c.fit(path+"/"+strconv.Itoa(i), element(atoms, i), kid)
		changed = changed || !same(out.kids[i], kid)
	}
	return settle(v, out, changed)
}

// whole writes 7.0 as 7 where only an integer is wanted: to the schema they
// are the same, to most decoders they are not.
func (c *coercer) whole(path string, atoms []*js, v node) node {
	if types(atoms)&numBits != intBit || !v.loose {
		return v
	}
	lit, ok := integral(string(v.raw))
	if !ok || lit == string(v.raw) {
		return v
	}
	c.fix(path, v.raw, json.RawMessage(lit), "an integer is wanted")
	return literalNode(json.RawMessage(lit))
}
