package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// describe words a finding about one value.
func describe(err *jsonschema.ValidationError, got any) string {
	was := ", got " + show(got)
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return "want " + wanted(k.Want) + was
	case *kind.Enum:
		return "want " + oneOf(k.Want) + was
	case *kind.Const:
		return "want " + show(k.Want) + was
	case *kind.Pattern:
		return "want text that matches the pattern " + k.Want + was
	case *kind.FalseSchema:
		return "this is not allowed here"
	case *kind.Not:
		return "this value is not allowed" + was
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal; want every item once", k.Duplicates[0], k.Duplicates[1])
	case *kind.AdditionalItems:
		return fmt.Sprintf("%d items too many", k.Count)
	case *kind.Contains, *kind.MinContains:
		return "an item of the wanted form is missing" + was
	case *kind.MaxContains:
		return fmt.Sprintf("want at most %d items of that form", k.Want)
	}
	if text := limit(err.ErrorKind); text != "" {
		return text
	}
	return "this does not fit the tool's schema" + was
}

// limit words a finding about a size.
func limit(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "want at least " + rat(k.Want) + ", got " + rat(k.Got)
	case *kind.Maximum:
		return "want at most " + rat(k.Want) + ", got " + rat(k.Got)
	case *kind.ExclusiveMinimum:
		return "want more than " + rat(k.Want) + ", got " + rat(k.Got)
	case *kind.ExclusiveMaximum:
		return "want less than " + rat(k.Want) + ", got " + rat(k.Got)
	case *kind.MultipleOf:
		return "want a multiple of " + rat(k.Want) + ", got " + rat(k.Got)
	case *kind.MinLength:
		return size("at least", k.Want, "character", k.Got)
	case *kind.MaxLength:
		return size("at most", k.Want, "character", k.Got)
	case *kind.MinItems:
		return size("at least", k.Want, "item", k.Got)
	case *kind.MaxItems:
		return size("at most", k.Want, "item", k.Got)
	case *kind.MinProperties:
		return size("at least", k.Want, "field", k.Got)
	case *kind.MaxProperties:
		return size("at most", k.Want, "field", k.Got)
	}
	return ""
}

func size(bound string, want int, unit string, got int) string {
	if want != 1 {
		unit += "s"
	}
	return fmt.Sprintf("want %s %d %s, got %d", bound, want, unit, got)
}

func rat(r *big.Rat) string {
	if r.IsInt() {
		return shorten(r.Num().String(), maxShown)
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// lookup follows a path into a value; it is nil where nothing stands.
func lookup(v any, at []string) any {
	for _, step := range at {
		switch c := v.(type) {
		case map[string]any:
			v = c[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(c) {
				return nil
			}
			v = c[i]
		default:
			return nil
		}
	}
	return v
}

// show gives a value as a model wrote it, or only its type if it is large.
func show(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	case string:
		return string(quote(shorten(v, maxShown)))
	case json.Number:
		return shorten(v.String(), maxShown)
	}
	return fmt.Sprint(orNull(v))
}

func orNull(v any) any {
	if v == nil {
		return "null"
	}
	return v
}

var typeWords = map[string]string{
	"null": "null", "boolean": "true or false", "integer": "an integer", "number": "a number",
	"string": "a string", "array": "an array", "object": "an object",
}

func wanted(names []string) string {
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = typeWords[name]
	}
	return strings.Join(words, " or ")
}

// maxListed bounds the values of a list that are spelled out.
const maxListed = 20

func oneOf(values []any) string {
	words := make([]string, 0, len(values))
	for _, v := range values[:min(len(values), maxListed)] {
		words = append(words, show(v))
	}
	if len(values) > maxListed {
		words = append(words, "…")
	}
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}
