package schema

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// verdict is what simple says of a value and a schema.
type verdict int

const (
	unsure verdict = iota // the validator must say
	fitting
	unfit
)

// simple says whether v fits s where types, properties, required names, items and lists
// of texts alone decide: of most tools and most values. The validator, which can word
// what is wrong, takes many times as long.
func simple(s *js, v any) verdict {
	if s.Bool != nil {
		return said(*s.Bool)
	}
	t := sureType(v)
	switch {
	case t == 0:
		return unsure
	case s.Types != nil && masks()[*s.Types]&t == 0:
		return unfit
	case refers(s) || s.Const != nil || bounded(s, t):
		return unsure
	}
	switch v := v.(type) {
	case map[string]any:
		return simpleObject(s, v)
	case []any:
		return simpleArray(s, v)
	case string:
		return said(s.Enum == nil || slices.Contains(s.Enum.Values, any(v)))
	}
	if s.Enum != nil {
		return unsure
	}
	return fitting
}

func said(fits bool) verdict {
	if fits {
		return fitting
	}
	return unfit
}

func simpleObject(s *js, v map[string]any) verdict {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return unfit
		}
	}
	all := fitting
	for name, kid := range v {
		own := s.Properties[name]
		if own == nil {
			switch rest := s.AdditionalProperties.(type) {
			case bool:
				all = all.and(said(rest))
			case *js:
				own = rest
			}
		}
		if own != nil {
			all = all.and(simple(own, kid))
		}
		if all == unfit {
			break
		}
	}
	return all
}

func simpleArray(s *js, v []any) verdict {
	all := fitting
	for i, kid := range v {
		if own := ownElement(s, i); own != nil {
			all = all.and(simple(own, kid))
		}
	}
	return all
}

// and is the verdict on what both are about.
func (a verdict) and(b verdict) verdict {
	if a == unfit || b == unfit {
		return unfit
	}
	return min(a, b)
}

// refers reports whether other schemas have a say in what fits s, beside those of
// members and elements.
func refers(s *js) bool {
	return s.Ref != nil || s.RecursiveRef != nil || s.DynamicRef != nil || s.Not != nil || s.If != nil || s.Then != nil || s.Else != nil ||
		len(s.AllOf)+len(s.AnyOf)+len(s.OneOf)+len(s.Extensions) > 0
}

// bounded reports whether something beside its type, a list of values and the schemas of
// what is in it decides of a value of type t.
func bounded(s *js, t mask) bool {
	if s.Format != nil {
		return true
	}
	switch t {
	case strBit:
		return s.MinLength != nil || s.MaxLength != nil || s.Pattern != nil || s.ContentEncoding != nil || s.ContentMediaType != nil || s.ContentSchema != nil
	case intBit:
		return s.Maximum != nil || s.Minimum != nil || s.ExclusiveMaximum != nil || s.ExclusiveMinimum != nil || s.MultipleOf != nil
	case arrBit:
		return s.Enum != nil || s.MinItems != nil || s.MaxItems != nil || s.UniqueItems || s.Contains != nil || s.AdditionalItems != nil || s.UnevaluatedItems != nil
	case objBit:
		return s.Enum != nil || s.MinProperties != nil || s.MaxProperties != nil || s.PropertyNames != nil || s.UnevaluatedProperties != nil ||
			len(s.PatternProperties)+len(s.Dependencies)+len(s.DependentRequired)+len(s.DependentSchemas) > 0
	}
	return false
}

// sureType is the type of a value; 0 of a number that is written with a point or an
// exponent.
func sureType(v any) mask {
	if n, ok := v.(json.Number); ok {
		return scalar(json.RawMessage(n))
	}
	return typeOf(v)
}

// masks are the types that jsonschema's sets of types stand for.
var masks = sync.OnceValue(func() map[jsonschema.Types]mask {
	all := map[jsonschema.Types]mask{0: 0}
	for name, bit := range typeBits {
		for set, m := range all {
			set.Add(name)
			all[set] = m | bit
		}
	}
	return all
})
