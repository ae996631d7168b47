package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Describe gives a tool's signature in one line:
//
//	search_code(query: string, limit?: integer = 5)
//
// A question mark stands after optional arguments. It is the bare name for a
// tool that is not known. tool may be an alias.
func (s *Set) Describe(tool string) string {
	sh := s.shape(tool)
	if sh == nil {
		return tool
	}
	if !s.Has(tool) {
		tool, _, _ = s.follow(tool)
	}
	var args []string
	for _, name := range sh.order {
		args = append(args, sh.signature(name))
	}
	return tool + "(" + strings.Join(args, ", ") + ")"
}

func (sh *shape) signature(name string) string {
	mark := "?"
	if slices.Contains(sh.required, name) {
		mark = ""
	}
	var words []string
	value := ""
	for _, want := range sh.argument(name) {
		words = append(words, typeName(want, 0))
		value = defaultOf(want)
	}
	return name + mark + ": " + shorten(union(words), maxType) + value
}

// maxType bounds the type of one argument, in bytes.
const maxType = 300

// maxDefault bounds a default that is written out, in bytes.
const maxDefault = 40

func defaultOf(want []*js) string {
	for _, s := range flatten(want, nil) {
		if s.Default == nil || *s.Default == nil {
			continue
		}
		if b := compact(*s.Default); len(b) > 0 && len(b) <= maxDefault {
			return " = " + b
		}
	}
	return ""
}

func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// maxNames bounds how deep the types of a signature go.
const maxNames = 3

// typeName writes a type as TypeScript would, more or less.
func typeName(want []*js, depth int) string {
	atoms := flatten(want, nil)
	for _, s := range atoms {
		if values := listed(s); values != nil {
			return literals(values)
		}
	}
	if alts := alternatives(atoms, depth); alts != "" {
		return alts
	}
	var words []string
	m := types(atoms)
	if m == 0 || m == allBits {
		return "any"
	}
	for _, t := range typeOrder {
		if m&t.bits == t.bits {
			words = append(words, t.name)
			m &^= t.bits
		}
	}
	if m&arrBit != 0 {
		words = append(words, listName(atoms, depth))
	}
	if m&objBit != 0 {
		words = append(words, objectName(atoms, depth))
	}
	if m&nullBit != 0 {
		words = append(words, "null")
	}
	return union(words)
}

// typeOrder holds the scalar types; number before its two halves.
var typeOrder = []struct {
	bits mask
	name string
}{
	{strBit, "string"}, {numBits, "number"}, {intBit, "integer"}, {fracBit, "number"}, {boolBit, "boolean"},
}

func listName(atoms []*js, depth int) string {
	of := element(atoms, 1<<30)
	if len(of) == 0 {
		of = element(atoms, 0)
	}
	if len(of) == 0 || depth >= maxNames {
		return "array"
	}
	name := typeName(of, depth+1)
	if strings.Contains(name, "|") {
		name = "(" + name + ")"
	}
	return name + "[]"
}

// maxFields bounds the fields of an object within a signature.
const maxFields = 12

func objectName(atoms []*js, depth int) string {
	names := slices.Sorted(maps.Keys(properties(atoms)))
	if len(names) == 0 || depth >= maxNames {
		return "object"
	}
	var fields []string
	for _, name := range names {
		if len(fields) == maxFields {
			fields = append(fields, "…")
			break
		}
		mark := "?"
		if needs(atoms, name) {
			mark = ""
		}
		fields = append(fields, name+mark+": "+typeName(member(atoms, name), depth+1))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// alternatives joins the types of anyOf or oneOf, if those say it all; of many the
// first, and "…".
func alternatives(atoms []*js, depth int) string {
	for _, s := range atoms {
		alts := branches(s)
		if len(alts) == 0 || len(s.Properties) > 0 || depth >= maxNames {
			continue
		}
		var words []string
		for _, b := range alts[:min(len(alts), maxUnion+1)] {
			words = append(words, typeName([]*js{b}, depth+1))
		}
		text := union(words)
		if len(alts) > len(words) && text != "any" && !strings.HasSuffix(text, "…") {
			text += "|…"
		}
		return text
	}
	return ""
}

// maxUnion bounds the alternatives of a union that are written out.
const maxUnion = 8

func union(words []string) string {
	var out []string
	for _, w := range words {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	if slices.Contains(out, "any") || len(out) == 0 {
		return "any"
	}
	if len(out) > maxUnion {
		out = append(out[:maxUnion], "…")
	}
	return strings.Join(out, "|")
}

func literals(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = shorten(compact(v), maxDefault)
	}
	return union(words)
}

// summary is the type of an argument and what its schema says of it, cut short.
func summary(want []*js) string {
	if len(want) == 0 {
		return ""
	}
	text := typeName(want, 1)
	for _, s := range flatten(want, nil) {
		if s.Description != "" {
			return text + ": " + shorten(strings.Join(strings.Fields(s.Description), " "), 2*maxShown)
		}
	}
	return text
}
