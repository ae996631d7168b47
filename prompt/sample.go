package prompt

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

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
		return json.RawMessage(strconv.Itoa(int(math.Ceil(h.number(123, 1)))))
	case "number":
		return json.RawMessage(strconv.FormatFloat(h.number(123.45, 0.5), 'f', -1, 64))
	case "boolean":
		return json.RawMessage("true")
	case "null":
		return json.RawMessage("null")
	}
	return json.RawMessage(quote(h.text(name)))
}

func (s *sampler) object(h shape, depth int) json.RawMessage {
	ms, err := members(h.Properties)
	if err != nil || depth > maxDepth {
		ms = nil
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
	if len(ms) == 0 && depth > 0 && depth <= maxDepth {
		words = s.free(h, depth)
	}
	return json.RawMessage("{" + strings.Join(words, ",") + "}")
}

// free is a member of an object that names none.
func (s *sampler) free(h shape, depth int) []string {
	switch kindOf(h.Additional) {
	case 'f':
		return nil
	case '{':
		return []string{`"key":` + string(s.value("key", h.Additional, depth+1))}
	}
	return []string{`"key":"value"`}
}

// array has one item, or as many as there must be; two if nothing is said of them.
func (s *sampler) array(name string, h shape, depth int) json.RawMessage {
	if depth > maxDepth {
		return json.RawMessage("[]")
	}
	n := max(h.MinItems, 1)
	if h.Items == nil {
		n = max(n, 2)
	}
	if h.MaxItems != nil {
		n = min(n, *h.MaxItems)
	}
	items := make([]string, n)
	for i := range items {
		items[i] = string(s.item(name, h, i, depth+1))
	}
	return json.RawMessage("[" + strings.Join(items, ",") + "]")
}

// item is the i-th item of a list, another one each time where they must differ.
func (s *sampler) item(name string, h shape, i, depth int) json.RawMessage {
	if kindOf(h.Items) != '{' {
		return json.RawMessage(quote("item" + strconv.Itoa(i+1)))
	}
	v := s.value(name, h.Items, depth)
	of := s.shape(h.Items)
	if !h.Unique || i == 0 {
		return v
	}
	switch {
	case i < len(of.Enum):
		return of.Enum[i]
	case of.typeName() == "integer" || of.typeName() == "number":
		return json.RawMessage(strconv.FormatFloat(of.number(123+float64(i), 1), 'f', -1, 64))
	case of.typeName() == "string":
		return json.RawMessage(quote(of.text(name + strconv.Itoa(i+1))))
	}
	return v
}

// Example is what a manifest shows as the required arguments of a tool: a JSON
// object that fits its schema.
func Example(t utp.Tool) json.RawMessage {
	basic, _ := examples(t)
	return basic
}
