package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is said without the validator is what the validator says.
func TestSimpleSaysWhatTheValidatorSays(t *testing.T) {
	seen := map[verdict]int{}
	rapid.Check(t, func(t *rapid.T) {
		doc := drawSchema(t, 3)
		s, err := build(json.RawMessage(doc))
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		for range 4 {
			n, err := parse([]byte(drawValue(t, 3)))
			if err != nil {
				t.Fatal(err)
			}
			got := simple(s, n.val)
			seen[got]++
			if want := said(validate(s, n.val) == nil); got != unsure && got != want {
				t.Fatalf("%s under %s: %v, want %v", n.raw, doc, got, want)
			}
		}
	})
	for _, v := range []verdict{unsure, fitting, unfit} {
		if seen[v] == 0 {
			t.Errorf("verdict %d never came", v)
		}
	}
}

// A tool as most are needs no validator, whatever fits or does not.
func TestSimpleToolsNeedNoValidator(t *testing.T) {
	s, err := build(json.RawMessage(`{"type":"object","description":"x","required":["city"],"additionalProperties":false,"properties":{
		"city":{"type":"string","description":"x"},"days":{"type":["integer","null"],"default":1},"unit":{"type":"string","enum":["C","F"]},
		"tags":{"type":"array","items":{"type":"string"}},"at":{"type":"object","properties":{"lat":{"type":"number"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]verdict{
		`{"city":"Oslo"}`:                       fitting,
		`{"city":"Oslo","days":3,"unit":"C"}`:   fitting,
		`{"city":"Oslo","days":null,"at":{}}`:   fitting,
		`{"city":"Oslo","tags":["a","b"]}`:      fitting,
		`{"city":"Oslo","at":{"lat":5,"x":[]}}`: fitting,
		`{}`:                                    unfit,
		`{"city":5}`:                            unfit,
		`{"city":"Oslo","days":"3"}`:            unfit,
		`{"city":"Oslo","unit":"K"}`:            unfit,
		`{"city":"Oslo","tags":["a",5]}`:        unfit,
		`{"city":"Oslo","at":{"lat":"5"}}`:      unfit,
		`{"city":"Oslo","else":1}`:              unfit,
		`{"city":"Oslo","days":3.0}`:            unsure,
		`{"city":"Oslo","days":3.0,"unit":5}`:   unfit,
	} {
		n, err := parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := simple(s, n.val); got != want {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
}

// limits are keywords that decide beside the type.
var limits = []string{
	`"const":"a"`, `"const":5`, `"const":{"a":5}`, `"not":{"type":"string"}`, `"allOf":[{"required":["b"]}]`, `"anyOf":[{"type":"string"},{"minimum":5}]`, `"oneOf":[{},{"type":"object"}]`,
	`"if":{"type":"object"},"then":{"required":["b"]},"else":{"type":"string"}`, `"minLength":2`, `"maxLength":0`, `"pattern":"b"`, `"minimum":5`, `"maximum":3`,
	`"exclusiveMinimum":5`, `"exclusiveMaximum":5`, `"multipleOf":2`, `"minItems":1`, `"maxItems":1`, `"uniqueItems":true`, `"contains":{"type":"string"}`,
	`"prefixItems":[{"type":"string"}]`, `"minProperties":1`, `"maxProperties":1`, `"propertyNames":{"const":"a"}`, `"patternProperties":{"b":{"type":"string"}}`,
	`"dependentRequired":{"a":["b"]}`, `"dependentSchemas":{"a":{"required":["b"]}}`, `"dependencies":{"a":["b"]}`, `"unevaluatedProperties":false`, `"unevaluatedItems":false`,
	`"$ref":"#/$defs/x"`, `"$dynamicRef":"#/$defs/x"`, `"format":"date"`,
}

// No keyword is passed over: with each alone, under each type, every value is as the
// validator says.
func TestSimpleMindsEveryKeyword(t *testing.T) {
	values := append([]string{`{"a":5}`, `{"b":5}`, `{"a":"a","b":"b"}`, `["a"]`, `[5,5]`, `["a",5]`}, drawn...)
	for _, limit := range limits {
		for _, typ := range []string{"", `"type":"string",`, `"type":"integer",`, `"type":"array",`, `"type":"object",`, `"type":["null","boolean"],`} {
			doc := "{" + typ + limit + `,"$defs":{"x":{"type":"string"}}}`
			s, err := build(json.RawMessage(doc))
			if err != nil {
				t.Fatal(doc, err)
			}
			for _, v := range values {
				n, err := parse([]byte(v))
				if err != nil {
					t.Fatal(err)
				}
				if got, want := simple(s, n.val), said(validate(s, n.val) == nil); got != unsure && got != want {
					t.Errorf("%s under %s: %v, want %v", v, doc, got, want)
				}
			}
		}
	}
}

func drawSchema(t *rapid.T, deep int) string {
	keys := []string{`"title":"x"`}
	add := func(share int, key func() string) {
		if rapid.IntRange(0, share).Draw(t, "has") == 0 {
			keys = append(keys, key())
		}
	}
	typ := rapid.SampledFrom([]string{`"string"`, `"integer"`, `"number"`, `"boolean"`, `"null"`, `"array"`, `"object"`, `["string","null"]`, `["integer","string"]`, `["object","array","number"]`})
	below := func() string {
		if deep == 0 {
			return rapid.SampledFrom([]string{`{}`, `{"type":"string"}`, `{"type":"integer"}`}).Draw(t, "leaf")
		}
		return drawSchema(t, deep-1)
	}
	some := func() string { return rapid.SampledFrom([]string{"true", "false", ""}).Draw(t, "bool") }
	either := func() string {
		if b := some(); b != "" {
			return b
		}
		return below()
	}
	add(0, func() string { return `"type":` + typ.Draw(t, "type") })
	add(1, func() string { return fmt.Sprintf(`"properties":{"a":%s,"b":%s}`, below(), either()) })
	add(2, func() string { return `"required":["a"]` })
	add(2, func() string { return `"additionalProperties":` + either() })
	add(2, func() string { return `"items":` + below() })
	add(3, func() string {
		return `"enum":` + rapid.SampledFrom([]string{`["a","b"]`, `["a",5,null]`, `[{"a":5},[]]`}).Draw(t, "enum")
	})
	add(4, func() string { return rapid.SampledFrom(limits).Draw(t, "limit") })
	if deep == 3 {
		keys = append(keys, `"$defs":{"x":{"type":"string"}}`)
	}
	return "{" + strings.Join(keys, ",") + "}"
}

func drawValue(t *rapid.T, deep int) string {
	kinds := 3
	if deep == 0 {
		kinds = 1
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 2:
		return fmt.Sprintf(`[%s,%s]`, drawValue(t, deep-1), drawValue(t, deep-1))
	case 3:
		var ms []string
		for _, k := range []string{"a", "b", "c"} {
			if rapid.Bool().Draw(t, k) {
				ms = append(ms, fmt.Sprintf(`%q:%s`, k, drawValue(t, deep-1)))
			}
		}
		return "{" + strings.Join(ms, ",") + "}"
	}
	return rapid.SampledFrom(drawn).Draw(t, "value")
}

var drawn = []string{`"a"`, `"b"`, `""`, `"abc"`, "5", "4", "-5", "0", "5.0", "5.5", "1e3", "12345678901234567890", "true", "false", "null", "[]", "{}"}
