package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"pgregory.net/rapid"
)

var wildNames = []string{"a", "A", "a_b", "aB", "input", "arguments", "x"}

func draw[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

// drawWild draws any JSON that a model could write, half of it wrong.
func drawWild(t *rapid.T, depth int) string {
	switch n := rapid.IntRange(0, 9).Draw(t, "value"); {
	case n < 2 && depth > 0:
		var members []string
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			members = append(members, quoted(draw(t, "name", wildNames...))+":"+drawWild(t, depth-1))
		}
		return "{" + strings.Join(members, ",") + "}"
	case n < 4 && depth > 0:
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, drawWild(t, depth-1))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case n < 6 && depth > 0:
		return quoted(drawWild(t, depth-1))
	case n < 7:
		return draw(t, "number", "0", "1", "7.0", "-1.5", "1e2", "12345678901234567890")
	}
	return draw(t, "scalar", `"a"`, `"A"`, `"5"`, `" 1.0"`, `""`, `"null"`, `"None"`, `"True"`, `"['a', None]"`, `"{'a': 1}"`, "null", "true", "false")
}

// drawWildSchema draws any schema over the same names, sensible or not.
func drawWildSchema(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 9).Draw(t, "end") == 0 {
		return draw(t, "leaf", `{"type":"string"}`, `{"type":"integer"}`, `{"type":"boolean"}`, `{"enum":["a","A",5,null]}`, `{"const":1}`,
			`{"type":["integer","null"]}`, `{"type":"string","enum":["a","bc"]}`, `true`, `false`, `{"$ref":"#"}`, `{"$ref":"#/$defs/d"}`, `{"type":"number","minimum":2}`, `{"type":"string","maxLength":1}`)
	}
	sub := func() string { return drawWildSchema(t, depth-1) }
	words := []func() string{
		func() string {
			return `"type":` + draw(t, "type", `"object"`, `"array"`, `["array","object"]`, `"STRING"`)
		},
		func() string {
			return `"properties":{` + quoted(draw(t, "p", wildNames...)) + `:` + sub() + `,"z":` + sub() + `}`
		},
		func() string { return `"required":[` + quoted(draw(t, "r", wildNames...)) + `]` },
		func() string { return `"additionalProperties":` + sub() },
		func() string { return `"patternProperties":{"^a":` + sub() + `}` },
		func() string { return `"items":` + sub() },
		func() string { return `"prefixItems":[` + sub() + `]` },
		func() string { return `"anyOf":[` + sub() + `,` + sub() + `]` },
		func() string { return `"oneOf":[` + sub() + `,` + sub() + `]` },
		func() string { return `"allOf":[` + sub() + `,` + sub() + `]` },
		func() string { return `"not":` + sub() },
		func() string { return `"if":` + sub() + `,"then":` + sub() + `,"else":` + sub() },
		func() string { return `"minItems":2` },
		func() string { return `"maxProperties":1` },
		func() string { return `"nullable":true` },
	}
	var parts []string
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(words)-1), 1, 4, rapid.ID).Draw(t, "words") {
		parts = append(parts, words[i]())
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// No schema and no arguments, however odd, break the laws.
func TestWildIsLawful(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		defs := `"$defs":{"d":` + drawWildSchema(t, 2) + `}`
		schema := `{"properties":{"a":` + drawWildSchema(t, 3) + `,"a_b":` + drawWildSchema(t, 2) + `},` + defs + `}`
		if rapid.Bool().Draw(t, "odd root") {
			schema = strings.TrimSuffix(strings.TrimPrefix(drawWildSchema(t, 3), "{"), "}")
			schema = strings.TrimSuffix("{"+defs+","+schema, ",") + "}"
		}
		if !json.Valid([]byte(schema)) {
			return
		}
		args := `{"a":` + drawWild(t, 4) + `,` + quoted(draw(t, "other", wildNames...)) + `:` + drawWild(t, 3) + `}`
		if rapid.IntRange(0, 3).Draw(t, "odd args") == 0 {
			args = drawWild(t, 4)
		}
		opts := Options{DropEmptyOptional: rapid.Bool().Draw(t, "drop")}
		lawful(t, CompileWith([]utp.Tool{{Name: "f", Schema: json.RawMessage(schema)}}, opts), args)
	})
}
