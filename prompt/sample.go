package prompt

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// shape is what an example needs to know of a JSON Schema.
type shape struct {
	Ref         string            `json:"$ref"`
	Type        any               `json:"type"` // a name or a list of names
	Description string            `json:"description"`
	Properties  json.RawMessage   `json:"properties"`
	Required    []string          `json:"required"`
	Items       json.RawMessage   `json:"items"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
	Default     json.RawMessage   `json:"default"`
	Examples    []json.RawMessage `json:"examples"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	AllOf       []json.RawMessage `json:"allOf"`
	Minimum     *float64          `json:"minimum"`
	Maximum     *float64          `json:"maximum"`
	MinLength   int               `json:"minLength"`
	MaxLength   *int              `json:"maxLength"`
	MinItems    int               `json:"minItems"`
}

// maxDepth bounds examples of recursive schemas.
const maxDepth = 8

// sampler makes example values for one schema.
type sampler struct {
	root     json.RawMessage
	optional bool // optional members too
	skipped  bool // an optional member was left out
}

// examples makes arguments for a tool: the required ones, and, if any argument
// at any depth is optional, all of them.
func examples(t utp.Tool) (basic, advanced json.RawMessage) {
	s := sampler{root: parameters(t)}
	basic = s.value("", s.root, 0)
	if !s.skipped {
		return basic, nil
	}
	s.optional = true
	return basic, s.value("", s.root, 0)
}

func (s *sampler) value(name string, schema json.RawMessage, depth int) json.RawMessage {
	h := s.shape(schema)
	if v := h.given(); v != nil {
		return v
	}
	switch h.typeName() {
	case "object":
		return s.object(h, depth)
	case "array":
		return s.array(name, h, depth)
	case "integer":
		return json.RawMessage(strconv.Itoa(int(h.clamp(123))))
	case "number":
		return json.RawMessage(strconv.FormatFloat(h.clamp(123.45), 'f', -1, 64))
	case "boolean":
		return json.RawMessage("true")
	case "null":
		return json.RawMessage("null")
	}
	return json.RawMessage(quote(h.text(name)))
}

// shape reads a schema, following $ref and the first branch of a union.
func (s *sampler) shape(schema json.RawMessage) (h shape) {
	for range maxDepth {
		h = shape{}
		if json.Unmarshal(schema, &h) != nil {
			return shape{}
		}
		switch branches := slices.Concat(h.AnyOf, h.OneOf, h.AllOf); {
		case h.Ref != "":
			schema = s.at(h.Ref)
		case len(branches) > 0 && h.Type == nil && h.given() == nil:
			schema = branches[0]
		default:
			return h
		}
	}
	return h
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
	switch t := h.Type.(type) {
	case string:
		return t
	case []any:
		for _, e := range t {
			if name, ok := e.(string); ok && name != "null" {
				return name
			}
		}
	}
	if h.Properties != nil {
		return "object"
	}
	return "string"
}

func (s *sampler) object(h shape, depth int) json.RawMessage {
	ms, err := members(h.Properties)
	if err != nil || depth > maxDepth {
		return json.RawMessage("{}")
	}
	var words []string
	for _, m := range ms {
		if !slices.Contains(h.Required, m.key) {
			s.skipped = true
			if !s.optional {
				continue
			}
		}
		words = append(words, quote(m.key)+":"+string(s.value(m.key, m.value, depth+1)))
	}
	return json.RawMessage("{" + strings.Join(words, ",") + "}")
}

func (s *sampler) array(name string, h shape, depth int) json.RawMessage {
	if depth > maxDepth {
		return json.RawMessage("[]")
	}
	item := string(s.value(name, h.Items, depth+1))
	return json.RawMessage("[" + item + strings.Repeat(","+item, max(h.MinItems-1, 0)) + "]")
}

func (h shape) clamp(v float64) float64 {
	if h.Maximum != nil {
		v = min(v, *h.Maximum)
	}
	if h.Minimum != nil {
		v = max(v, *h.Minimum)
	}
	return v
}

var exampleInProse = regexp.MustCompile("e\\.g\\.,? ?[`'\"]([^`'\"]+)[`'\"]")

// text is an example text: what the description quotes after "e.g.", else a
// word made of the argument's name, within the length limits.
func (h shape) text(name string) string {
	text := "example_" + or(name, "value")
	if m := exampleInProse.FindStringSubmatch(h.Description); m != nil {
		text = m[1]
	}
	if h.MaxLength != nil && len(text) > *h.MaxLength {
		text = text[:max(*h.MaxLength, 0)]
	}
	return text + strings.Repeat("x", max(h.MinLength-len(text), 0))
}
