package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sample is a schema with a value that fits it and one that a model might
// write instead, without doubt about what it means.
type sample struct{ schema, good, sloppy string }

func quoted(s string) string { return string(quote(s)) }

func drawSample(t *rapid.T, depth int) sample {
	kinds := 6
	if depth > 0 {
		kinds = 10
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		n := fmt.Sprint(rapid.Int64().Draw(t, "n"))
		return sample{`{"type":"integer"}`, n, rapid.SampledFrom([]string{quoted(n), n + ".0", quoted(" " + n + ".0 "), n}).Draw(t, "n as")}
	case 1:
		n := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "x")
		return sample{`{"type":"number"}`, n, quoted(n)}
	case 2:
		b := rapid.Bool().Draw(t, "b")
		words := map[bool][]string{true: {`"true"`, `"True"`, `1`, `"yes"`}, false: {`"false"`, `"False"`, `0`, `"0"`}}
		return sample{`{"type":"boolean"}`, fmt.Sprint(b), rapid.SampledFrom(words[b]).Draw(t, "b as")}
	case 3:
		s := rapid.String().Draw(t, "s")
		return sample{`{"type":"string"}`, quoted(s), rapid.SampledFrom([]string{"5", "true", "1.50"}).Draw(t, "s as")}
	case 4:
		pick := rapid.SampledFrom([]string{"Read-Only", "append", "C++"}).Draw(t, "pick")
		return sample{`{"enum":["Read-Only","append","C++"]}`, quoted(pick), quoted(strings.ToUpper(pick))}
	case 5:
		return sample{`{"type":["integer","null"]}`, `null`, rapid.SampledFrom([]string{`"None"`, `"null"`, `"7"`}).Draw(t, "null as")}
	case 6:
		return drawList(t, depth)
	case 7:
		return drawObject(t, depth)
	case 8:
		s := drawSample(t, depth-1)
		return sample{`{"anyOf":[{"type":"null"},` + s.schema + `]}`, s.good, s.sloppy}
	}
	s := drawSample(t, depth-1)
	return sample{`{"allOf":[` + s.schema + `],"description":"x"}`, s.good, s.sloppy}
}

func drawList(t *rapid.T, depth int) sample {
	s := drawSample(t, depth-1)
	good, sloppy := "["+s.good+", "+s.good+"]", "["+s.sloppy+","+s.good+"]"
	if rapid.Bool().Draw(t, "as text") {
		sloppy = quoted(sloppy)
	}
	return sample{`{"type":"array","items":` + s.schema + `}`, good, sloppy}
}

func drawObject(t *rapid.T, depth int) sample {
	a, b := drawSample(t, depth-1), drawSample(t, depth-1)
	schema := `{"type":"object","properties":{"first_one":` + a.schema + `,"b":` + b.schema + `},"required":["first_one","b"],"additionalProperties":false}`
	good := `{"b":` + b.good + `, "first_one" :` + a.good + `}`
	name := rapid.SampledFrom([]string{"first_one", "firstOne", "First-One"}).Draw(t, "key")
	sloppy := `{"b":` + b.sloppy + `,` + quoted(name) + `:` + a.sloppy + `}`
	if depth < 3 && rapid.Bool().Draw(t, "as text") {
		sloppy = quoted(sloppy)
	}
	return sample{schema, good, sloppy}
}

// What fits stays as it is, to the byte.
func TestValidIsUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawObject(t, 3)
		out, fixes, issues := one(s.schema).Check("f", json.RawMessage(s.good))
		if string(out) != s.good || fixes != nil || issues != nil {
			t.Fatalf("%s\nargs %s\ngot  %s %v %v", s.schema, s.good, out, fixes, issues)
		}
	})
}

// What was meant for a valid value becomes one.
func TestSloppyBecomesValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawObject(t, 3)
		set := one(s.schema)
		out, _, issues := set.Check("f", json.RawMessage(s.sloppy))
		if issues != nil {
			t.Fatalf("%s\nargs %s\ngot  %s\n%v", s.schema, s.sloppy, out, texts(issues))
		}
		lawful(t, set, s.sloppy)
	})
}

// Whatever is put in, the laws hold.
func TestAnythingIsLawful(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, args := drawObject(t, 3), drawObject(t, 3)
		lawful(t, one(schema.schema), rapid.SampledFrom([]string{args.good, args.sloppy, `{"input":` + args.sloppy + `}`}).Draw(t, "args"))
	})
}

// Typing argument by argument and checking the whole agree.
func TestValueAgreesWithCheck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSample(t, 3)
		set := one(`{"properties":{"x":` + s.schema + `}}`)
		v, _ := set.Value("f", "x", json.RawMessage(s.sloppy))
		out, fixes, _ := set.Check("f", json.RawMessage(`{"x":`+string(v)+`}`))
		if fixes != nil {
			t.Fatalf("%s: %s became %s, then %s", s.schema, s.sloppy, v, out)
		}
	})
}
