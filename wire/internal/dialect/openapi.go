package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// openWords are the keywords that Gemini's Schema shares with JSON Schema and
// that are copied as they are.
var openWords = []string{"title", "minimum", "maximum", "minLength", "maxLength", "pattern", "minItems", "maxItems", "minProperties", "maxProperties"}

// Keywords that are dropped: those that say nothing about the value, and those
// whose content is written elsewhere.
var (
	openDropped = []string{"$schema", "$id", "$comment", "additionalProperties"}
	openMoved   = []string{"$defs", "definitions", "propertyOrdering"}
)

// formats are those that Gemini's functions take, by type.
var formats = map[string][]string{
	"string": {"enum", "date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"},
}

// maxInline is how often a $ref is written out inside itself.
const maxInline = 2

// open writes a schema as Gemini's Schema.
func (w *converting) open(f shape.Fields, path string) (json.RawMessage, *Coercion) {
	if ref := text(f.Get("$ref")); ref != "" {
		return w.inline(ref, f.Without("$ref"), path)
	}
	if f.Get("allOf") != nil {
		f = w.flat(f, path)
	}
	types, null := typesOf(f.Get("type"))
	branches := list(f.Get("anyOf"))
	if branches == nil {
		branches = list(f.Get("oneOf"))
	}
	if branches == nil && len(types) > 1 {
		for _, t := range types {
			branches = append(branches, shape.Value{Raw: f.Without("type", "description", "nullable").Set("type", shape.Quote(t).Raw).Raw()})
		}
	}
	if branches != nil {
		return w.openUnion(f, branches, null, path)
	}
	back := new(Coercion)
	out := w.openType(f, types, path, back)
	if null || string(f.Get("nullable")) == "true" {
		out = out.Set("nullable", json.RawMessage("true"))
	}
	return out.Raw(), back.orNil()
}

// inline writes what a $ref names in its place.
func (w *converting) inline(ref string, more shape.Fields, path string) (json.RawMessage, *Coercion) {
	target, found := w.refer(ref)
	deep := 0
	for _, r := range w.inside {
		if r == ref {
			deep++
		}
	}
	if !found || deep >= maxInline {
		w.lose(path+".$ref", "cut off", "this API knows no references: "+ref)
		name := ref[strings.LastIndex(ref, "/")+1:]
		return shape.Fields{{Name: "type", Value: shape.Quote("OBJECT").Raw}, {Name: "description", Value: shape.Quote("a " + name).Raw}}.Raw(), nil
	}
	w.inside = append(w.inside, ref)
	out, back := w.open(overlay(target, more), path)
	w.inside = w.inside[:len(w.inside)-1]
	return out, back
}

// openUnion writes alternatives. Null is not one but nullable, and of a single
// one nothing but itself is left.
func (w *converting) openUnion(f shape.Fields, branches []shape.Value, null bool, path string) (json.RawMessage, *Coercion) {
	back := new(Coercion)
	null = null || string(f.Get("nullable")) == "true"
	var out []json.RawMessage
	for i, b := range branches {
		branch := members(b.Raw)
		if types, isNull := typesOf(branch.Get("type")); isNull && len(types) == 0 {
			null = true
			continue
		}
		if len(out) == 0 && branch.Get("description") == nil && f.Get("description") != nil {
			branch = branch.Set("description", f.Get("description"))
		}
		schema, inner := w.open(branch, fmt.Sprintf("%s.anyOf[%d]", path, i))
		out = append(out, schema)
		back.also(inner)
	}
	var result shape.Fields
	if len(out) == 1 {
		result = members(out[0])
	} else {
		all, err := shape.Marshal(out)
		if err != nil {
			return nil, nil
		}
		result = shape.Fields{{Name: "anyOf", Value: all}}
	}
	if null {
		result = result.Set("nullable", json.RawMessage("true"))
	}
	return result.Raw(), back.orNil()
}

// openType writes a schema of one type.
func (w *converting) openType(f shape.Fields, types []string, path string, back *Coercion) shape.Fields {
	t := guessType(f, types)
	if len(types) == 0 && t == "" {
		t = "string"
		w.lose(path+".type", "string assumed", "this API wants a type")
	}
	out := shape.Fields{{Name: "type", Value: shape.Quote(strings.ToUpper(t)).Raw}}
	notes := []string{text(f.Get("description"))}
	for _, field := range f.Without("type", "description", "required", "nullable") {
		more, note := w.openField(field, t, path+"."+field.Name, back)
		out = append(out, more...)
		if note != "" {
			notes = append(notes, note)
		}
	}
	if t == "array" && f.Get("items") == nil && f.Get("prefixItems") == nil {
		out = out.Set("items", json.RawMessage(`{"type":"STRING"}`))
	}
	if i := slices.IndexFunc(out, func(f shape.Field) bool { return f.Name == "enum" }); i >= 0 {
		out = out.Set("type", shape.Quote("STRING").Raw)
	}
	if note := strings.TrimSpace(strings.Join(notes, "\n")); note != "" {
		out = append(out, shape.Field{Name: "description", Value: shape.Quote(note).Raw})
	}
	return setRequired(out, known(texts(f.Get("required")), f.Get("properties")))
}

func guessType(f shape.Fields, types []string) string {
	switch {
	case len(types) > 0:
		return types[0]
	case f.Get("properties") != nil:
		return "object"
	case f.Get("items") != nil, f.Get("prefixItems") != nil:
		return "array"
	case f.Get("enum") != nil, f.Get("const") != nil:
		return "string"
	}
	return ""
}

// known is the required names that exist.
func known(required []string, properties json.RawMessage) []string {
	props := members(properties)
	return slices.DeleteFunc(required, func(n string) bool { return props.Get(n) == nil })
}

// openField writes one keyword, or a note for the description in its place.
func (w *converting) openField(f shape.Field, t, path string, back *Coercion) (out shape.Fields, note string) {
	switch {
	case f.Name == "properties":
		if props := w.openProperties(f.Value, path, back); props != nil {
			return shape.Fields{{Name: "properties", Value: props.Raw()}}, ""
		}
		return nil, ""
	case f.Name == "items", f.Name == "prefixItems":
		schema, inner := w.openItems(f.Value, path)
		back.items = inner
		return shape.Fields{{Name: "items", Value: schema}}, ""
	case f.Name == "enum":
		return w.openEnum(list(f.Value), path, back), ""
	case f.Name == "const":
		return w.openEnum([]shape.Value{{Raw: f.Value}}, path, back), ""
	case slices.Contains(openWords, f.Name):
		return shape.Fields{f}, ""
	case f.Name == "format" && slices.Contains(formats[t], text(f.Value)):
		return shape.Fields{f}, ""
	case f.Name == "additionalProperties" && isOpen(f.Value):
		w.lose(path, "moved to the description", "this API knows no maps")
		return nil, "Any keys; their values: " + string(f.Value)
	case slices.Contains(openMoved, f.Name):
		return nil, ""
	case slices.Contains(openDropped, f.Name):
		w.lose(path, "dropped", "this API does not know "+f.Name)
		return nil, ""
	}
	w.lose(path, "moved to the description", "this API does not know "+f.Name)
	return nil, f.Name + ": " + string(f.Value)
}

func (w *converting) openProperties(raw json.RawMessage, path string, back *Coercion) (out shape.Fields) {
	for _, p := range members(raw) {
		schema, inner := w.open(members(p.Value), path+"."+p.Name)
		back.prop(p.Name, inner)
		out = append(out, shape.Field{Name: p.Name, Value: schema})
	}
	return out
}

// openItems writes the schema of an array's elements; that of a tuple is one of its places'.
func (w *converting) openItems(raw json.RawMessage, path string) (json.RawMessage, *Coercion) {
	places := list(raw)
	if places == nil {
		f := members(raw)
		if len(f) == 0 {
			return json.RawMessage(`{"type":"STRING"}`), nil
		}
		return w.open(f, path)
	}
	w.lose(path, "each element may be any of them", "this API knows no tuples")
	return w.openUnion(nil, places, false, path)
}

// openEnum writes values as texts and notes which they stand for.
func (w *converting) openEnum(values []shape.Value, path string, back *Coercion) shape.Fields {
	words, null, changed := []string{}, false, false
	for _, v := range values {
		switch v.Kind() {
		case 'n':
			null = true
			continue
		case '"':
			words = append(words, text(v.Raw))
			continue
		}
		word := string(v.Raw)
		words, changed = append(words, word), true
		if back.enum == nil {
			back.enum = map[string]json.RawMessage{}
		}
		back.enum[word] = v.Raw
	}
	for _, v := range values {
		delete(back.enum, text(v.Raw)) // a text of the same spelling stays one
	}
	if changed {
		w.lose(path, "offered as texts", "this API takes texts only; calls are changed back")
	}
	b, err := shape.Marshal(once(words))
	if err != nil || len(words) == 0 {
		return nil
	}
	out := shape.Fields{{Name: "enum", Value: b}}
	if null {
		out = append(out, shape.Field{Name: "nullable", Value: json.RawMessage("true")})
	}
	return out
}

// FromOpenAPI is a Schema of Gemini's as JSON Schema: types in small letters,
// nullable as the type null, and enums of the type that the schema names.
func FromOpenAPI(schema json.RawMessage) json.RawMessage {
	in := members(schema)
	if in == nil {
		return schema
	}
	var out shape.Fields
	null := string(in.Get("nullable")) == "true"
	for _, f := range in {
		switch f.Name {
		case "nullable", "propertyOrdering", "property_ordering":
			continue
		case "type":
			f.Value = fromType(f.Value, null)
		case "properties":
			props := members(f.Value)
			for i := range props {
				props[i].Value = FromOpenAPI(props[i].Value)
			}
			f.Value = props.Raw()
		case "items":
			f.Value = FromOpenAPI(f.Value)
		case "anyOf", "any_of":
			f.Name, f.Value = "anyOf", fromUnion(f.Value, null)
		case "enum":
			f.Value = fromEnum(f.Value, text(in.Get("type")), null)
		}
		out = append(out, f)
	}
	return out.Raw()
}

func fromType(raw json.RawMessage, null bool) json.RawMessage {
	t := shape.Quote(strings.ToLower(text(raw))).Raw
	if null {
		return slices.Concat([]byte("["), t, []byte(`,"null"]`))
	}
	return t
}

func fromUnion(raw json.RawMessage, null bool) json.RawMessage {
	var all []json.RawMessage
	for _, v := range list(raw) {
		all = append(all, FromOpenAPI(v.Raw))
	}
	if null {
		all = append(all, json.RawMessage(`{"type":"null"}`))
	}
	b, err := shape.Marshal(all)
	if err != nil {
		return raw
	}
	return b
}

// fromEnum gives the values their type: Gemini writes all of them as texts.
func fromEnum(raw json.RawMessage, kind string, null bool) json.RawMessage {
	var all []json.RawMessage
	for _, v := range list(raw) {
		if word := text(v.Raw); !strings.EqualFold(kind, "string") && json.Valid([]byte(word)) {
			v.Raw = json.RawMessage(word)
		}
		all = append(all, v.Raw)
	}
	if null {
		all = append(all, json.RawMessage("null"))
	}
	b, err := shape.Marshal(all)
	if err != nil {
		return raw
	}
	return b
}
