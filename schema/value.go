package schema

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// Kind is what the schema says of one argument.
type Kind int

const (
	Any          Kind = iota // nothing, or every type
	String                   // a string, whatever its letters
	Choice                   // a string out of a list
	StringOrNull             // a string, or null if the text is exactly "null"
	Integer                  // a number without fraction
	Number                   // a number
	Boolean                  // true or false
	Object                   // an object
	Array                    // an array
	Null                     // null
	Mixed                    // one of several types
)

var kindNames = [...]string{"any", "string", "choice", "string-or-null", "integer", "number", "boolean", "object", "array", "null", "mixed"}

// String names the kind.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Text reports whether plain text stays a string as it is, so that it can be
// passed on while it arrives: TextValue then only quotes it.
func (k Kind) Text() bool { return k == Any || k == String }

var soleKinds = map[mask]Kind{
	strBit: String, intBit: Integer, numBits: Number, fracBit: Number,
	boolBit: Boolean, objBit: Object, arrBit: Array, nullBit: Null,
}

// Kind tells the type of a top-level argument; Any if the tool or the argument
// is not known. tool may be an alias.
func (s *Set) Kind(tool, key string) Kind {
	return s.shape(tool).kind(key)
}

func (sh *shape) kind(key string) Kind {
	if sh == nil {
		return Any
	}
	if k, known := sh.kinds[key]; known {
		return k
	}
	return kindOf(sh.argument(key))
}

func kindOf(alts [][]*js) Kind {
	m := maskOf(alts)
	if m == 0 || m == allBits {
		return Any
	}
	if m&strBit != 0 && lists(alts) {
		if m == strBit {
			return Choice
		}
		return Mixed
	}
	if m == strBit|nullBit {
		return StringOrNull
	}
	if k, ok := soleKinds[m&^nullBit]; ok {
		return k
	}
	if m == nullBit {
		return Null
	}
	return Mixed
}

// argument gives the schemas of a top-level argument as alternatives: in most
// tools there is one; arguments declared only in branches of the root may have more.
func (sh *shape) argument(key string) (alts [][]*js) {
	if sh == nil {
		return nil
	}
	if want := member(sh.atoms, key); len(want) > 0 {
		return [][]*js{want}
	}
	for _, s := range reach(sh.atoms) {
		if want := ownMember(s, key); len(want) > 0 {
			alts = append(alts, want)
		}
	}
	return alts
}

func maskOf(alts [][]*js) (m mask) {
	for _, want := range alts {
		m |= types(flatten(want, nil))
	}
	return m
}

// lists reports whether a list of values limits the argument anywhere.
func lists(alts [][]*js) bool {
	for _, want := range alts {
		for _, s := range reach(flatten(want, nil)) {
			if listed(s) != nil {
				return true
			}
		}
	}
	return false
}

// TextValue types the text of an argument that came without types (between XML
// tags, for example) as the schema wants it. Text that is no value of the
// wanted type stays a string: a wrong type is better than a lost argument. The
// text null where no string is wanted is null.
// The Fix is nil if the text is the value's JSON, or the string itself.
func (s *Set) TextValue(tool, key, text string) (json.RawMessage, *utp.Fix) {
	sh := s.shape(tool)
	if sh == nil || sh.kind(key).Text() {
		return quote(text), nil
	}
	plain := textNode(text)
	if maskOf(sh.argument(key))&strBit == 0 && strings.TrimSpace(text) == "null" {
		return json.RawMessage("null"), nil
	}
	for _, want := range sh.argument(key) {
		out, fixed := sh.typed(want, text, plain)
		if same(out, plain) {
			continue
		}
		if fixed == nil {
			return out.raw, nil
		}
		return out.raw, &utp.Fix{Path: "/" + escape(key), Was: shorten(text, maxFix), Now: shorten(string(out.raw), maxFix), Why: fixed.Why}
	}
	return plain.raw, nil
}

// typed reads text as one of the wanted types.
func (sh *shape) typed(want []*js, text string, plain node) (node, *utp.Fix) {
	m := types(flatten(want, nil))
	v := plain
	if n, err := parse([]byte(strings.TrimSpace(text))); err == nil && n.kind != '"' && (m&typeOf(n.val) != 0 || integralText(n, m)) {
		v = n
	}
	c := newCoercer(sh, v)
	out := c.fit("", want, v)
	if c.spent() || len(c.fixes) == 0 {
		return v, nil
	}
	return out, &c.fixes[0]
}

// integralText tells 7.0 where an integer is wanted.
func integralText(n node, m mask) bool {
	return n.kind == '0' && m&numBits != 0 && typeOf(n.val) == intBit
}

// Value fits one top-level argument, and what is in it, to the schema. v is
// complete JSON; other text comes back as it is. Fixes have paths from the
// arguments object on.
func (s *Set) Value(tool, key string, v json.RawMessage) (json.RawMessage, []utp.Fix) {
	sh := s.shape(tool)
	if sh != nil && sh.free[key]&scalar(v) != 0 {
		return v, nil
	}
	alts := sh.argument(key)
	if len(alts) == 0 {
		return v, nil
	}
	n, err := parse(v)
	if err != nil {
		return v, nil
	}
	var first *coercer
	var out node
	for _, want := range alts {
		c := newCoercer(sh, n)
		now := c.fit("/"+escape(key), want, n)
		if c.spent() {
			return v, nil
		}
		if first == nil || c.fits(want, now) {
			first, out = c, now
		}
		if c.fits(want, now) {
			break
		}
	}
	if len(first.fixes) == 0 {
		return v, nil
	}
	return out.raw, first.fixes
}

// scalar is the type of a string, of true and false, or of a number without
// fraction and exponent; 0 of any other value.
func scalar(v json.RawMessage) mask {
	switch string(v) {
	case "":
		return 0
	case "true", "false":
		return boolBit
	}
	if v[0] == '"' {
		return strBit
	}
	for i, c := range v {
		if (c < '0' || c > '9') && (c != '-' || i > 0) {
			return 0
		}
	}
	return intBit
}

// scalars are the types of scalars that fit an argument whatever their value.
func scalars(alts [][]*js) mask {
	if len(alts) != 1 || len(alts[0]) != 1 {
		return 0
	}
	s := alts[0][0]
	if s.Types == nil || s.Bool != nil || s.Enum != nil || s.Const != nil || refers(s) {
		return 0
	}
	m := ownTypes(s) & (strBit | boolBit | intBit)
	for _, t := range []mask{strBit, boolBit, intBit} {
		if bounded(s, t) {
			m &^= t
		}
	}
	return m
}
