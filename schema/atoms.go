package schema

import (
	"encoding/json"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A value stands under several schemas at once: those that reach it by $ref,
// allOf and if. Atoms are these schemas in one flat list; a value fits if it
// fits every one of them.

// flatten lists the schemas that want consists of. v chooses between then and
// else; with a nil v neither counts.
func flatten(want []*js, v any) []*js {
	var out []*js
	var walk func(s *js)
	walk = func(s *js) {
		if s == nil || slices.Contains(out, s) {
			return
		}
		out = append(out, s)
		walk(s.Ref)
		walk(s.RecursiveRef)
		if s.DynamicRef != nil {
			walk(s.DynamicRef.Ref)
		}
		for _, sub := range s.AllOf {
			walk(sub)
		}
		if s.If != nil && v != nil {
			if valid(s.If, v) {
				walk(s.Then)
			} else {
				walk(s.Else)
			}
		}
	}
	for _, s := range want {
		walk(s)
	}
	return out
}

// valid reports whether v fits s. Should the library panic, v is taken to fit.
func valid(s *js, v any) (ok bool) {
	if says := simple(s, v); says != unsure {
		return says == fitting
	}
	return validate(s, v) == nil
}

// validate says what is wrong with v.
func validate(s *js, v any) (err *jsonschema.ValidationError) {
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	err, _ = s.Validate(v).(*jsonschema.ValidationError)
	return err
}

// branches lists the alternatives of an atom.
func branches(s *js) []*js { return append(slices.Clone(s.AnyOf), s.OneOf...) }

// member lists the schemas of an object's member.
func member(atoms []*js, name string) []*js {
	var out []*js
	for _, s := range atoms {
		own := ownMember(s, name)
		if rest, ok := s.AdditionalProperties.(*js); ok && len(own) == 0 {
			own = append(own, rest)
		}
		out = append(out, own...)
	}
	return out
}

func ownMember(s *js, name string) []*js {
	var out []*js
	if p := s.Properties[name]; p != nil {
		out = append(out, p)
	}
	for re, p := range s.PatternProperties {
		if re.MatchString(name) {
			out = append(out, p)
		}
	}
	return out
}

// element lists the schemas of an array's i-th element.
func element(atoms []*js, i int) []*js {
	var out []*js
	for _, s := range atoms {
		if e := ownElement(s, i); e != nil {
			out = append(out, e)
		}
	}
	return out
}

func ownElement(s *js, i int) *js {
	head, rest := s.PrefixItems, s.Items2020
	switch items := s.Items.(type) {
	case *js:
		return items
	case []*js:
		head = items
		rest, _ = s.AdditionalItems.(*js)
	}
	if i < len(head) {
		return head[i]
	}
	return rest
}

// reach is flatten with the alternatives of anyOf and oneOf, all of them.
func reach(atoms []*js) []*js {
	out := slices.Clone(atoms)
	for i := 0; i < len(out); i++ {
		for _, sub := range flatten(branches(out[i]), nil) {
			if !slices.Contains(out, sub) {
				out = append(out, sub)
			}
		}
		for _, sub := range []*js{out[i].Then, out[i].Else} {
			if sub != nil && !slices.Contains(out, sub) {
				out = append(out, sub)
			}
		}
	}
	return out
}

// properties names the members that an object may have by name.
func properties(atoms []*js) map[string]bool {
	names := map[string]bool{}
	for _, s := range reach(atoms) {
		for name := range s.Properties {
			names[name] = true
		}
	}
	return names
}

// knows reports whether a schema says anything of a member of that name.
func knows(atoms []*js, name string) bool {
	for _, s := range reach(atoms) {
		if len(ownMember(s, name)) > 0 {
			return true
		}
		if rest, ok := s.AdditionalProperties.(*js); ok && rest.Bool == nil {
			return true
		}
	}
	return false
}

// needs reports whether every object must have a member of that name.
func needs(atoms []*js, name string) bool {
	return slices.ContainsFunc(atoms, func(s *js) bool { return slices.Contains(s.Required, name) })
}

// mask is a set of JSON types.
type mask uint8

const (
	nullBit mask = 1 << iota
	boolBit
	intBit
	fracBit // a number that is no integer
	strBit
	arrBit
	objBit

	numBits = intBit | fracBit
	allBits = 1<<7 - 1
)

var typeBits = map[string]mask{
	"null": nullBit, "boolean": boolBit, "integer": intBit, "number": numBits,
	"string": strBit, "array": arrBit, "object": objBit,
}

// types tells which types a value under the atoms can have.
func types(atoms []*js) mask { return (&typer{}).of(atoms) }

// typer remembers the atoms with alternatives that it has been through: these
// may lead back to themselves.
type typer struct{ seen map[*js]mask }

func (t *typer) of(atoms []*js) mask {
	m := mask(allBits)
	for _, s := range atoms {
		m &= t.atom(s)
	}
	return m
}

func (t *typer) atom(s *js) mask {
	if len(s.AnyOf) == 0 && len(s.OneOf) == 0 {
		return ownTypes(s)
	}
	if m, ok := t.seen[s]; ok {
		return m
	}
	if t.seen == nil {
		t.seen = map[*js]mask{}
	}
	t.seen[s] = allBits
	m := ownTypes(s)
	for _, list := range [][]*js{s.AnyOf, s.OneOf} {
		var any mask
		for _, b := range list {
			any |= t.of(flatten([]*js{b}, nil))
		}
		if len(list) > 0 {
			m &= any
		}
	}
	t.seen[s] = m
	return m
}

func ownTypes(s *js) mask {
	m := mask(allBits)
	if s.Bool != nil && !*s.Bool {
		return 0
	}
	if s.Types != nil {
		m = masks()[*s.Types]
	}
	if values := listed(s); values != nil {
		var of mask
		for _, v := range values {
			of |= typeOf(v)
		}
		m &= of
	}
	return m
}

// listed gives the only values that s allows, if it lists them.
func listed(s *js) []any {
	if s.Const != nil {
		return []any{*s.Const}
	}
	if s.Enum != nil {
		return s.Enum.Values
	}
	return nil
}

func typeOf(v any) mask {
	switch v := v.(type) {
	case nil:
		return nullBit
	case bool:
		return boolBit
	case string:
		return strBit
	case []any:
		return arrBit
	case map[string]any:
		return objBit
	case json.Number:
		if _, ok := integral(v.String()); ok {
			return intBit
		}
	}
	return fracBit
}
