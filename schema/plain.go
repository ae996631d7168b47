package schema

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Plain is a schema with the names of types that programs have ("float", "str",
// "list[int]") put into JSON Schema's, which alone providers accept. A schema
// without such names stays as it is, byte for byte; keys keep their order.
func Plain(schema json.RawMessage) json.RawMessage {
	if !hasOddType(schema) {
		return schema
	}
	if out, ok := inPlain(schema); ok {
		return out
	}
	return schema
}

// hasOddType reports whether some "type" may be followed by another name than
// JSON Schema's.
func hasOddType(s json.RawMessage) bool {
	const key = `"type"`
	for {
		i := bytes.Index(s, []byte(key))
		if i < 0 {
			return false
		}
		s = s[i+len(key):]
		v := bytes.TrimLeft(s, ": \t\r\n")
		if end := bytes.IndexByte(v[min(1, len(v)):], '"'); len(v) > 0 && v[0] == '"' && end >= 0 && typeNames[string(v[1:1+end])] != string(v[1:1+end]) {
			return true
		}
	}
}

// entry is a member of an object, in its place.
type entry struct {
	key   string
	value json.RawMessage
}

// inPlain rewrites what stands in the place of a schema; false: it is no object.
func inPlain(schema json.RawMessage) (json.RawMessage, bool) {
	ms, ok := entriesOf(schema)
	if !ok {
		return nil, false
	}
	for i, m := range ms {
		var name string
		switch {
		case m.key == "type" && json.Unmarshal(m.value, &name) == nil:
			ms = plainType(ms, i, name)
		case holdsSchemas[m.key]:
			ms[i].value = plainEntries(m.value)
		case m.key == "anyOf" || m.key == "oneOf" || m.key == "allOf" || m.key == "prefixItems":
			ms[i].value = plainList(m.value)
		default:
			if !isData[m.key] {
				ms[i].value = plainOr(m.value)
			}
		}
	}
	return objectOf(ms), true
}

// holdsSchemas are the keywords whose members are schemas; isData those whose
// value is none.
var (
	holdsSchemas = map[string]bool{"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true}
	isData       = map[string]bool{"default": true, "const": true, "enum": true, "examples": true, "example": true}
)

var listOf = expression(`(?i)^(?:list|array|set|tuple)\[(.+)\]$`)

// plainType writes the name of a type, and the items of a list of them.
func plainType(ms []entry, at int, name string) []entry {
	if own := typeNames[strings.ToLower(name)]; own != "" {
		ms[at].value = quote(own)
		return ms
	}
	of := listOf().FindStringSubmatch(name)
	if of == nil {
		return ms
	}
	ms[at].value = quote("array")
	for _, m := range ms {
		if m.key == "items" {
			return ms
		}
	}
	item := plainType([]entry{{key: "type", value: quote(of[1])}}, 0, of[1])
	return append(ms, entry{"items", objectOf(item)})
}

func plainOr(v json.RawMessage) json.RawMessage {
	if out, ok := inPlain(v); ok {
		return out
	}
	return v
}

func plainEntries(v json.RawMessage) json.RawMessage {
	ms, ok := entriesOf(v)
	if !ok {
		return v
	}
	for i := range ms {
		ms[i].value = plainOr(ms[i].value)
	}
	return objectOf(ms)
}

func plainList(v json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		return v
	}
	for i := range list {
		list[i] = plainOr(list[i])
	}
	out, err := json.Marshal(list)
	if err != nil {
		return v
	}
	return out
}

// entriesOf lists the members of a JSON object in their order.
func entriesOf(v json.RawMessage) (out []entry, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(v))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		key, err := dec.Token()
		var m entry
		if err != nil || dec.Decode(&m.value) != nil {
			return nil, false
		}
		m.key, _ = key.(string)
		out = append(out, m)
	}
	return out, true
}

func objectOf(ms []entry) json.RawMessage {
	out := []byte{'{'}
	for i, m := range ms {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(m.key)...), ':'), m.value...)
	}
	return append(out, '}')
}
