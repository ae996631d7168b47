package schema

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// normaliser rewrites a schema that providers accept into one that the
// validator accepts. What a keyword cannot mean is dropped, which only ever
// lets more through; what cannot be read at all is left for the validator to
// refuse.
type normaliser struct {
	draft int
	bare  bool // drop $id: the second try, for ids that are no URIs
}

// draftOf reads $schema. Unknown and absent ones are 2020-12.
func draftOf(root any) (draft int, known bool) {
	m, _ := root.(map[string]any)
	uri, _ := m["$schema"].(string)
	_, uri, _ = strings.Cut(uri, "://")
	switch strings.TrimSuffix(uri, "#") {
	case "json-schema.org/draft-04/schema":
		return 4, true
	case "json-schema.org/draft-06/schema":
		return 6, true
	case "json-schema.org/draft-07/schema":
		return 7, true
	case "json-schema.org/draft/2019-09/schema":
		return 2019, true
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		return 2020, true
	}
	return 2020, false
}

// normalise changes root in place and gives the schema of an arguments object.
func normalise(root any, bare bool) any {
	draft, known := draftOf(root)
	m, ok := root.(map[string]any)
	if !ok {
		return root
	}
	if !known {
		delete(m, "$schema")
	}
	uri := m["$schema"]
	delete(m, "nullable") // arguments are always there
	z := normaliser{draft: draft, bare: bare}
	out := z.schema(m).(map[string]any)
	if uri != nil {
		out["$schema"] = uri
	}
	if _, ok := out["type"]; !ok {
		out["type"] = "object"
	}
	return out
}

// schema normalises what stands in the place of a schema.
func (z normaliser) schema(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		if v == nil {
			return true
		}
		return v
	}
	delete(m, "$schema")
	delete(m, "format") // an annotation since 2019-09; models are not held to it in older drafts either
	if z.bare {
		delete(m, "$id")
		delete(m, "id")
	}
	z.clean(m)
	z.types(m)
	z.items(m)
	z.bounds(m)
	z.required(m)
	z.children(m)
	return nullable(m)
}

// clean drops keywords whose value is null or of a shape that they never have.
func (z normaliser) clean(m map[string]any) {
	for k, v := range m {
		switch {
		case k == "default" || k == "const" || k == "example":
		case v == nil:
			delete(m, k)
		case shapes[k] != nil:
			if fixed, ok := shapes[k](v); ok {
				m[k] = fixed
			} else {
				delete(m, k)
			}
		}
	}
}

// types puts the type keyword into JSON Schema's words. An unknown word
// stands for any type.
func (z normaliser) types(m map[string]any) {
	switch t := m["type"].(type) {
	case string:
		if name, ok := typeNames[strings.ToLower(t)]; ok {
			m["type"] = name
		} else {
			delete(m, "type")
		}
	case []any:
		var names []any
		for _, item := range t {
			s, _ := item.(string)
			name, ok := typeNames[strings.ToLower(s)]
			if !ok {
				delete(m, "type")
				return
			}
			if !slices.Contains(names, any(name)) {
				names = append(names, name)
			}
		}
		if m["type"] = names; len(names) == 0 {
			delete(m, "type")
		}
	}
	numericEnum(m)
}

// numericEnum makes numbers of an enum's texts where only numbers are
// allowed: Gemini's enums are always texts.
func numericEnum(m map[string]any) {
	list, _ := m["enum"].([]any)
	if m["type"] != "integer" && m["type"] != "number" {
		return
	}
	for i, v := range list {
		if s, ok := v.(string); ok {
			if lit, ok := number(s); ok {
				list[i] = json.Number(lit)
			}
		}
	}
}

// items turns a list under items into prefixItems where the draft has those.
func (z normaliser) items(m map[string]any) {
	if z.draft < 2020 {
		return
	}
	list, ok := m["items"].([]any)
	if !ok {
		return
	}
	delete(m, "items")
	if len(list) > 0 {
		m["prefixItems"] = list
	}
	if rest, ok := m["additionalItems"]; ok {
		m["items"] = rest
		delete(m, "additionalItems")
	}
}

// bounds puts exclusiveMinimum and exclusiveMaximum into the draft's form:
// a flag in draft 4, a number since.
func (z normaliser) bounds(m map[string]any) {
	for _, p := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		exclusive, limit := p[0], p[1]
		flag, isFlag := m[exclusive].(bool)
		num, isNumber := isNum(m[exclusive])
		switch {
		case z.draft == 4 && isNumber:
			m[limit], m[exclusive] = num, true
		case z.draft == 4 && isFlag && m[limit] == nil, z.draft > 4 && isFlag && !flag:
			delete(m, exclusive)
		case z.draft > 4 && isFlag:
			delete(m, exclusive)
			if m[limit] != nil {
				m[exclusive] = m[limit]
				delete(m, limit)
			}
		case isNumber:
			m[exclusive] = num
		case !isFlag:
			delete(m, exclusive)
		}
	}
}

// required gathers the list and the flags that stand in the properties themselves.
func (z normaliser) required(m map[string]any) {
	var names []any
	add := func(v any) {
		if s, ok := v.(string); ok && !slices.Contains(names, v) {
			names = append(names, s)
		}
	}
	switch r := m["required"].(type) {
	case []any:
		for _, v := range r {
			add(v)
		}
	case string:
		add(r)
	case bool: // read by the parent
	}
	props, _ := m["properties"].(map[string]any)
	for _, name := range sortedKeys(props) {
		if p, ok := props[name].(map[string]any); ok && p["required"] == true {
			add(name)
		}
	}
	if m["required"] = names; len(names) == 0 {
		delete(m, "required")
	}
}

var (
	schemaMaps  = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	schemaLists = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemaSoles = []string{"items", "additionalProperties", "additionalItems", "not", "if", "then", "else",
		"contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema"}
)

func readable(expr string) bool {
	_, err := regexp.Compile(expr)
	return err == nil
}

func (z normaliser) children(m map[string]any) {
	for _, k := range schemaMaps {
		subs, _ := m[k].(map[string]any)
		for name, sub := range subs {
			if k == "patternProperties" && !readable(name) {
				delete(subs, name)
			} else if _, list := sub.([]any); !list || k != "dependencies" {
				subs[name] = z.schema(sub)
			}
		}
	}
	for _, k := range schemaLists {
		subs, _ := m[k].([]any)
		for i, sub := range subs {
			subs[i] = z.schema(sub)
		}
	}
	for _, k := range schemaSoles {
		if sub, ok := m[k].(map[string]any); ok {
			m[k] = z.schema(sub)
		}
	}
}

// nullable spells out OpenAPI's nullable: true.
func nullable(m map[string]any) any {
	yes, _ := m["nullable"].(bool)
	delete(m, "nullable")
	if !yes {
		return m
	}
	if list, ok := m["enum"].([]any); ok && !slices.Contains(list, nil) {
		m["enum"] = append(list, nil)
	}
	switch t := m["type"].(type) {
	case string:
		m["type"] = []any{t, "null"}
		if t == "null" {
			m["type"] = t
		}
	case []any:
		if !slices.Contains(t, any("null")) {
			m["type"] = append(t, "null")
		}
	}
	for _, k := range []string{"$ref", "const", "anyOf", "oneOf", "allOf"} {
		if _, ok := m[k]; ok {
			return map[string]any{"anyOf": []any{m, map[string]any{"type": "null"}}}
		}
	}
	return m
}

// skeleton keeps of a broken schema only types, properties, items and enums:
// enough to tell how a value is meant, nothing that could refuse one.
func skeleton(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return true
	}
	out := map[string]any{}
	for _, k := range []string{"type", "enum", "description", "default"} {
		if v, ok := m[k]; ok {
			out[k] = v
		}
	}
	if props, ok := m["properties"].(map[string]any); ok {
		sub := map[string]any{}
		for name, p := range props {
			sub[name] = skeleton(p)
		}
		out["properties"] = sub
	}
	if _, ok := m["items"].(map[string]any); ok {
		out["items"] = skeleton(m["items"])
	}
	return out
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
