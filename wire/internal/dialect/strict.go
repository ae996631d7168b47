package dialect

import (
	"encoding/json"
	"slices"

	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// strictWords are the keywords that structured outputs take.
// Source: OpenAI, "Structured outputs", supported schemas.
var strictWords = []string{"type", "properties", "required", "additionalProperties", "enum", "const", "anyOf", "$ref", "$defs", "definitions",
	"description", "title", "items", "pattern", "format", "multipleOf", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum",
	"minItems", "maxItems"}

// IsStrict reports a schema that structured outputs take as it is: every object is
// closed and has all of its properties.
func IsStrict(schema json.RawMessage) bool {
	f := members(schema)
	return text(f.Get("type")) == "object" && f.Get("anyOf") == nil && isStrict(f)
}

func isStrict(f shape.Fields) bool {
	if f.Get("$ref") != nil {
		return len(f) == 1
	}
	for _, field := range f {
		if !slices.Contains(strictWords, field.Name) {
			return false
		}
	}
	required := texts(f.Get("required"))
	for _, key := range []string{"properties", "$defs", "definitions"} {
		for _, p := range members(f.Get(key)) {
			if key == "properties" && !slices.Contains(required, p.Name) || !isStrict(members(p.Value)) {
				return false
			}
		}
	}
	for _, branch := range list(f.Get("anyOf")) {
		if !isStrict(members(branch.Raw)) {
			return false
		}
	}
	types, _ := typesOf(f.Get("type"))
	isObject := slices.Contains(types, "object") || f.Get("properties") != nil
	return (!isObject || string(f.Get("additionalProperties")) == "false") && (f.Get("items") == nil || isStrict(members(f.Get("items"))))
}

// strict writes a schema for structured outputs.
func (w *converting) strict(f shape.Fields, path string) (json.RawMessage, *Coercion) {
	back := new(Coercion)
	if f.Get("allOf") != nil {
		f = w.flat(f, path)
	}
	if ref := text(f.Get("$ref")); ref != "" {
		for _, field := range f.Without("$ref") {
			w.lose(path+"."+field.Name, "dropped", "strict schemas take nothing beside a $ref")
		}
		return shape.Fields{{Name: "$ref", Value: shape.Quote(ref).Raw}}.Raw(), &Coercion{same: []*Coercion{w.def(ref)}}
	}
	var out shape.Fields
	for _, field := range f.Without("required", "additionalProperties") {
		at := path + "." + field.Name
		switch field.Name {
		case "properties":
			out = append(out, w.strictProperties(f, field.Value, path, back)...)
		case "items":
			out = append(out, shape.Field{Name: "items", Value: w.strictItems(field.Value, at, back)})
		case "anyOf", "oneOf":
			out = append(out, shape.Field{Name: "anyOf", Value: w.strictUnion(field.Value, at, back)})
		case "const":
			out = append(out, shape.Field{Name: "enum", Value: slices.Concat([]byte("["), field.Value, []byte("]"))})
		case "$defs", "definitions":
		default:
			if !slices.Contains(strictWords, field.Name) {
				w.lose(at, "dropped", "strict schemas do not know "+field.Name)
				continue
			}
			out = append(out, field)
		}
	}
	return w.closed(f, out).Raw(), back.orNil()
}

// closed notes what a strict schema cannot leave open: keys and values of any kind.
func (w *converting) closed(f, out shape.Fields) shape.Fields {
	types, null := typesOf(f.Get("type"))
	anyKey := slices.Contains(types, "object") && f.Get("properties") == nil || isOpen(f.Get("additionalProperties"))
	anyValue := len(types) == 0 && !null && out.Get("enum") == nil && out.Get("anyOf") == nil
	w.ok = w.ok && !anyKey && !anyValue
	if slices.Contains(types, "array") && f.Get("items") == nil {
		return out.Set("items", json.RawMessage("{}"))
	}
	return out
}

// isOpen reports additionalProperties that say more than true or false.
func isOpen(more json.RawMessage) bool {
	return (shape.Value{Raw: more}).Kind() == '{' && string(more) != "{}"
}

// strictProperties closes the object: all properties are required, those that
// were not may be null.
func (w *converting) strictProperties(f shape.Fields, raw json.RawMessage, path string, back *Coercion) shape.Fields {
	required := texts(f.Get("required"))
	var props shape.Fields
	names := []string{}
	for _, p := range members(raw) {
		at := path + ".properties." + p.Name
		schema, inner := w.strict(members(p.Value), at)
		if !slices.Contains(required, p.Name) {
			var changed bool
			if schema, changed = nullable(schema); changed {
				inner = &Coercion{null: true, same: []*Coercion{inner}}
				w.lose(at, "required, may be null", "strict schemas require every property")
			}
		}
		names = append(names, p.Name)
		props = append(props, shape.Field{Name: p.Name, Value: schema})
		back.prop(p.Name, inner)
	}
	all, err := shape.Marshal(names)
	if err != nil {
		return nil
	}
	return shape.Fields{{Name: "properties", Value: props.Raw()}, {Name: "required", Value: all}, {Name: "additionalProperties", Value: json.RawMessage("false")}}
}

// nullable is a schema that takes null too. changed is false if it did before.
func nullable(schema json.RawMessage) (out json.RawMessage, changed bool) {
	f := members(schema)
	if enum := list(f.Get("enum")); enum != nil {
		for _, v := range enum {
			if string(v.Raw) == "null" {
				return schema, false
			}
		}
		values := f.Get("enum")
		f = f.Set("enum", slices.Concat(values[:len(values)-1], []byte(",null]")))
	}
	types, null := typesOf(f.Get("type"))
	switch {
	case null:
		return schema, false
	case len(types) > 0:
		b, err := shape.Marshal(append(types, "null"))
		if err != nil {
			return schema, false
		}
		return f.Set("type", b).Raw(), true
	case f.Get("anyOf") != nil:
		for _, b := range list(f.Get("anyOf")) {
			if _, null := typesOf(members(b.Raw).Get("type")); null {
				return schema, false
			}
		}
		values := f.Get("anyOf")
		return f.Set("anyOf", slices.Concat(values[:len(values)-1], []byte(`,{"type":"null"}]`))).Raw(), true
	case f.Get("$ref") != nil:
		return slices.Concat([]byte(`{"anyOf":[`), schema, []byte(`,{"type":"null"}]}`)), true
	}
	return f.Raw(), f.Get("enum") != nil
}

func (w *converting) strictItems(raw json.RawMessage, path string, back *Coercion) json.RawMessage {
	schema, inner := w.strict(members(raw), path)
	back.items = inner
	return schema
}

func (w *converting) strictUnion(raw json.RawMessage, path string, back *Coercion) json.RawMessage {
	out := []byte{'['}
	for i, b := range list(raw) {
		if i > 0 {
			out = append(out, ',')
		}
		schema, inner := w.strict(members(b.Raw), path)
		out = append(out, schema...)
		back.also(inner)
	}
	return append(out, ']')
}

// def is the Coercion of a definition, to be filled by withDefs.
func (w *converting) def(ref string) *Coercion {
	if w.defs == nil {
		w.defs = map[string]*Coercion{}
	}
	if w.defs[ref] == nil {
		w.defs[ref] = new(Coercion)
	}
	return w.defs[ref]
}

// withDefs writes the definitions behind the schema.
func (w *converting) withDefs(schema json.RawMessage, path string) json.RawMessage {
	out := members(schema)
	for _, key := range []string{"$defs", "definitions"} {
		var defs shape.Fields
		for _, d := range members(w.root.Get(key)) {
			s, back := w.strict(members(d.Value), path+"."+key+"."+d.Name)
			defs = append(defs, shape.Field{Name: d.Name, Value: s})
			w.def("#/" + key + "/" + d.Name).also(back)
		}
		if defs != nil {
			out = out.Set(key, defs.Raw())
		}
	}
	return out.Raw()
}
