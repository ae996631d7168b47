package prompt

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
)

// shape is what an example needs to know of a JSON Schema.
type shape struct {
	Ref              string            `json:"$ref"`
	Type             any               `json:"type"` // a name or a list of names
	Description      string            `json:"description"`
	Properties       json.RawMessage   `json:"properties"`
	Additional       json.RawMessage   `json:"additionalProperties"`
	Required         []string          `json:"required"`
	Items            json.RawMessage   `json:"items"`
	Unique           bool              `json:"uniqueItems"`
	Enum             []json.RawMessage `json:"enum"`
	Const            json.RawMessage   `json:"const"`
	Default          json.RawMessage   `json:"default"`
	Examples         []json.RawMessage `json:"examples"`
	AnyOf            []json.RawMessage `json:"anyOf"`
	OneOf            []json.RawMessage `json:"oneOf"`
	AllOf            []json.RawMessage `json:"allOf"`
	Minimum          *float64          `json:"minimum"`
	Maximum          *float64          `json:"maximum"`
	ExclusiveMinimum *float64          `json:"exclusiveMinimum"`
	ExclusiveMaximum *float64          `json:"exclusiveMaximum"`
	MultipleOf       float64           `json:"multipleOf"`
	MinLength        int               `json:"minLength"`
	MaxLength        *int              `json:"maxLength"`
	MinItems         int               `json:"minItems"`
	MaxItems         *int              `json:"maxItems"`
	Pattern          string            `json:"pattern"`
	Format           string            `json:"format"`
}

// maxDepth bounds examples of recursive schemas.
const maxDepth = 8

// shape reads a schema, following $ref and the first branch of a union, and
// joining the parts of allOf.
func (s *sampler) shape(schema json.RawMessage) (h shape) {
	for range maxDepth {
		h = shape{}
		if json.Unmarshal(schema, &h) != nil {
			return shape{}
		}
		switch branches := slices.Concat(h.AnyOf, h.OneOf); {
		case h.Ref != "":
			schema = s.at(h.Ref)
		case len(h.AllOf) > 0:
			schema = joined(schema, h.AllOf)
		case len(branches) > 0 && h.Type == nil && h.given() == nil:
			schema = branches[0]
		default:
			return h
		}
	}
	return h
}

// joined is a schema with its allOf written into it. Properties and required
// names add up; of other keys the last one counts.
func joined(schema json.RawMessage, parts []json.RawMessage) json.RawMessage {
	out := map[string]json.RawMessage{}
	properties, required := map[string]json.RawMessage{}, []string{}
	for _, part := range append(slices.Clone(parts), schema) {
		var p map[string]json.RawMessage
		var h shape
		if json.Unmarshal(part, &p) != nil || json.Unmarshal(part, &h) != nil {
			continue
		}
		for key, v := range p {
			out[key] = v
		}
		ms, _ := members(h.Properties)
		for _, m := range ms {
			properties[m.key] = m.value
		}
		required = append(required, h.Required...)
	}
	delete(out, "allOf")
	if len(properties) > 0 {
		out["properties"], _ = json.Marshal(properties)
		out["required"], _ = json.Marshal(required)
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return text
}

// at finds the target of a local reference: "#/$defs/x".
func (s *sampler) at(ref string) json.RawMessage {
	schema := s.root
	for _, key := range strings.Split(strings.TrimPrefix(ref, "#"), "/")[1:] {
		var node map[string]json.RawMessage
		if json.Unmarshal(schema, &node) != nil {
			return nil
		}
		schema = node[strings.NewReplacer("~1", "/", "~0", "~").Replace(key)]
	}
	return schema
}

// given is a value that the schema itself names.
func (h shape) given() json.RawMessage {
	switch {
	case h.Const != nil:
		return h.Const
	case h.Default != nil && string(h.Default) != "null":
		return h.Default
	case len(h.Examples) > 0:
		return h.Examples[0]
	case len(h.Enum) > 0:
		return h.Enum[0]
	}
	return nil
}

func (h shape) typeName() string {
	if names := h.typeNames(); len(names) > 0 {
		return names[0]
	}
	return "string"
}

// typeNames are the types that a schema allows, null aside; none if it names none.
func (h shape) typeNames() (names []string) {
	switch t := h.Type.(type) {
	case string:
		return []string{t}
	case []any:
		for _, e := range t {
			if name, ok := e.(string); ok && name != "null" {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 && h.Properties != nil {
		return []string{"object"}
	}
	return names
}

// number is v moved into the limits; step is how far it keeps from an
// exclusive one.
func (h shape) number(v, step float64) float64 {
	low, high := math.Inf(-1), math.Inf(1)
	if h.Minimum != nil {
		low = *h.Minimum
	}
	if h.ExclusiveMinimum != nil {
		low = max(low, *h.ExclusiveMinimum+step)
	}
	if h.Maximum != nil {
		high = *h.Maximum
	}
	if h.ExclusiveMaximum != nil {
		high = min(high, *h.ExclusiveMaximum-step)
	}
	v = max(min(v, high), low)
	if m := h.MultipleOf; m > 0 {
		if v = math.Floor(v/m) * m; v < low {
			v += m
		}
	}
	return v
}

var exampleInProse = regexp.MustCompile("e\\.g\\.,? ?[`'\"]([^`'\"]+)[`'\"]")

// formats are examples of the formats that JSON Schema names.
var formats = map[string]string{
	"date": "2026-01-31", "time": "12:30:00Z", "date-time": "2026-01-31T12:30:00Z", "duration": "P1D",
	"email": "name@example.com", "hostname": "example.com", "uri": "https://example.com/", "url": "https://example.com/",
	"uuid": "123e4567-e89b-12d3-a456-426614174000", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
}

// text is an example text: what the description quotes after "e.g.", else one
// of the pattern or the format, else a word made of the argument's name, within
// the length limits.
func (h shape) text(name string) string {
	text := or(formats[h.Format], "example_"+or(name, "value"))
	if m := exampleInProse.FindStringSubmatch(h.Description); m != nil {
		text = m[1]
	}
	if fits, matches := fitting(h.Pattern, text); !matches {
		return fits
	}
	if h.MaxLength != nil && len(text) > *h.MaxLength {
		text = text[:max(*h.MaxLength, 0)]
	}
	return text + strings.Repeat("x", max(h.MinLength-len(text), 0))
}
