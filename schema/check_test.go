package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// contract: X-09
func TestCoerce(t *testing.T) {
	for _, c := range []struct{ schema, in, out string }{
		{`{"type":"integer"}`, `"5"`, `5`},
		{`{"type":"integer"}`, `" -5 "`, `-5`},
		{`{"type":"integer"}`, `"+7"`, `7`},
		{`{"type":"integer"}`, `"007"`, `7`},
		{`{"type":"integer"}`, `"\"5\""`, `5`},
		{`{"type":"integer"}`, `7.0`, `7`},
		{`{"type":"integer"}`, `1e3`, `1000`},
		{`{"type":"integer"}`, `"7.0"`, `7`},
		{`{"type":"integer"}`, `7.5`, `7.5`},
		{`{"type":"integer"}`, `"five"`, `"five"`},
		{`{"type":"integer"}`, `"12345678901234567890"`, `12345678901234567890`},
		{`{"type":"integer"}`, `12345678901234567890`, `12345678901234567890`},
		{`{"type":"integer"}`, `true`, `true`},
		{`{"type":"number"}`, `"1.50"`, `1.50`},
		{`{"type":"number"}`, `7.0`, `7.0`},
		{`{"type":"number"}`, `1e999999999`, `1e999999999`},
		{`{"type":"number","maximum":5}`, `-1e999999999`, `-1e999999999`},
		{`{"type":"number"}`, `".5"`, `0.5`},
		{`{"type":"number"}`, `"NaN"`, `"NaN"`},
		{`{"type":"number"}`, `"1,000"`, `"1,000"`},
		{`{"type":"string"}`, `5`, `"5"`},
		{`{"type":"string"}`, `5.10`, `"5.10"`},
		{`{"type":"string"}`, `true`, `"true"`},
		{`{"type":"string"}`, `{"a":1}`, `{"a":1}`},
		{`{"type":"string"}`, `["a"]`, `["a"]`},
		{`{"type":"string"}`, `"5"`, `"5"`},
		{`{"type":"boolean"}`, `"true"`, `true`},
		{`{"type":"boolean"}`, `"False"`, `false`},
		{`{"type":"boolean"}`, `"yes"`, `true`},
		{`{"type":"boolean"}`, `1`, `true`},
		{`{"type":"boolean"}`, `0`, `false`},
		{`{"type":"boolean"}`, `2`, `2`},
		{`{"type":["boolean","string"]}`, `1`, `"1"`},
		{`{"type":["boolean","object"]}`, `1`, `1`},
		{`{"type":["boolean","object"]}`, `"yes"`, `"yes"`},
		{`{"type":["integer","null"]}`, `"null"`, `null`},
		{`{"type":["integer","null"]}`, `"None"`, `null`},
		{`{"type":["string","null"]}`, `"null"`, `"null"`},
		{`{"type":["string","integer"]}`, `"5"`, `"5"`},
		{`{"type":"array","items":{"type":"integer"}}`, `"[1, 2]"`, `[1, 2]`},
		{`{"type":"array","items":{"type":"integer"}}`, `"[\"1\",2.0]"`, `[1,2]`},
		{`{"type":"array","items":{"type":"integer"}}`, `["1",2,"x"]`, `[1,2,"x"]`},
		{`{"type":"array","items":{"type":"integer"}}`, `5`, `[5]`},
		{`{"type":"array","items":{"type":"integer"}}`, `"5"`, `[5]`},
		{`{"type":"array","items":{"type":"integer"}}`, `"five"`, `"five"`},
		{`{"type":"array","items":{"type":"string"}}`, `"a"`, `["a"]`},
		{`{"type":"array","items":{"type":"string"}}`, `"['a', \"b\",]"`, `["a","b"]`},
		{`{"type":"array","items":{"type":"string"}}`, `"('a', None)"`, `["a",null]`},
		{`{"type":"array","items":{"type":"string"}}`, `"[a"`, `"[a"`},
		{`{"type":"array","items":{"type":"string"}}`, `""`, `""`},
		{`{"type":"array","items":{"type":"object"}}`, `{"a":1}`, `[{"a":1}]`},
		{`{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":{"type":"boolean"}}`, `["1",2,"true"]`, `[1,"2",true]`},
		{`{"type":"object"}`, `"{\"a\": [1, 2]}"`, `{"a": [1, 2]}`},
		{`{"type":"object"}`, `"\"{\\\"a\\\":1}\""`, `{"a":1}`},
		{`{"type":"object"}`, `"{'a': True, 'b': {'c': -1.5}}"`, `{"a":true,"b":{"c":-1.5}}`},
		{`{"type":"object"}`, `"{a}"`, `"{a}"`},
		{`{"type":"object","properties":{"a_b":{"type":"integer"}},"required":["a_b"]}`, `{"aB":"1","x":"1"}`, `{"a_b":1,"x":"1"}`},
		{`{"type":"object","properties":{"a":{"type":"integer"}}}`, `{"a":null}`, `{}`},
		{`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `{"a":null}`, `{"a":null}`},
		{`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"z":"1","a":"2"}`, `{"z":1,"a":2}`},
		{`{"type":"object","patternProperties":{"^n_":{"type":"integer"}}}`, `{"n_x":"1","a":"2"}`, `{"n_x":1,"a":"2"}`},
		{`{"enum":["Celsius","Fahrenheit"]}`, `"celsius"`, `"Celsius"`},
		{`{"enum":["read-only","a","A"]}`, `"READ_ONLY"`, `"read-only"`},
		{`{"enum":["a","A"]}`, `" a "`, `"a"`},
		{`{"enum":["aB","Ab"]}`, `"ab"`, `"ab"`},
		{`{"enum":["cat","Cart"]}`, `"cars"`, `"cars"`},
		{`{"enum":[1,2]}`, `"2"`, `2`},
		{`{"enum":["1","2"]}`, `2`, `"2"`},
		{`{"const":"go"}`, `"Go"`, `"go"`},
		{`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `"5"`, `5`},
		{`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `"5"`, `"5"`},
		{`{"anyOf":[{"type":"boolean"},{"type":"integer"}]}`, `"1"`, `1`},
		{`{"oneOf":[{"type":"object","properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["k","n"]},
			{"type":"object","properties":{"k":{"const":"b"},"s":{"type":"string"}},"required":["k","s"]}]}`, `{"k":"B","s":5}`, `{"k":"b","s":"5"}`},
		{`{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}`, `"[\"a\"]"`, `["a"]`},
		{`{"$ref":"#/$defs/n"}`, `{"v":"1","next":{"v":"2"}}`, `{"v":1,"next":{"v":2}}`},
		{`{"allOf":[{"type":["integer","string"]},{"type":["integer","null"]}]}`, `"5"`, `5`},
		{`{"if":{"type":"string"},"then":{"maxLength":3},"else":{"type":"integer"}}`, `4.0`, `4`},
		{`{"type":"array","items":{"$ref":"#/$defs/deep"}}`, `1`, `1`},
	} {
		s := one(`{"type":"object","properties":{"x":` + c.schema + `},"$defs":{
			"n":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/n"}}},
			"deep":{"type":"array","items":{"$ref":"#/$defs/deep"}}}}`)
		if b := s.Broken(); b != nil {
			t.Fatal(b)
		}
		out, fixes := s.Value("f", "x", json.RawMessage(c.in))
		if string(out) != c.out || (len(fixes) == 0) != (c.in == c.out) {
			t.Errorf("%s\n  in   %s\n  got  %s %v\n  want %s", c.schema, c.in, out, fixes, c.out)
		}
		for _, f := range fixes {
			if !strings.HasPrefix(f.Path, "/x") || f.Why == "" {
				t.Errorf("%s: %s: fix %+v", c.schema, c.in, f)
			}
		}
	}
}

func TestFixesSayWhere(t *testing.T) {
	s := one(searchSchema)
	_, fixes, _ := s.Check("f", json.RawMessage(`{"query":"x","filter":"{\"maxAge\":\"5\"}","paths":["a",1]}`))
	var got []string
	for _, f := range fixes {
		got = append(got, fmt.Sprintf("%s %s %s", f.Path, f.Was, f.Now))
	}
	want := `/filter "{\"maxAge\":\"5\"}" {"maxAge":"5"}
/filter/max_age maxAge max_age
/filter/max_age "5" 5
/paths/1 1 "1"`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestCheckWhole(t *testing.T) {
	for name, c := range map[string]struct{ in, out string }{
		"valid":              {"{ \"limit\" : 5,\n \"query\":\"x\" }", "{ \"limit\" : 5,\n \"query\":\"x\" }"},
		"extra is kept":      {`{"query":"x","more":1}`, `{"query":"x","more":1}`},
		"order is kept":      {`{"zoo":1.50,"limit":"5","query":"x","a":12345678901234567890}`, `{"zoo":1.50,"limit":5,"query":"x","a":12345678901234567890}`},
		"key case":           {`{"Query":"x"}`, `{"query":"x"}`},
		"key taken":          {`{"Query":"x","query":"y"}`, `{"Query":"x","query":"y"}`},
		"near optional key":  {`{"query":"x","LIMIT":3}`, `{"query":"x","limit":3}`},
		"wrapped":            {`{"arguments":{"query":"x"}}`, `{"query":"x"}`},
		"wrapped twice":      {`{"input":{"parameters":{"query":"x","limit":"1"}}}`, `{"query":"x","limit":1}`},
		"wrapped as text":    {`{"params":"{\"query\":\"x\"}"}`, `{"query":"x"}`},
		"wrapped in nothing": {`{"":{"query":"x"}}`, `{"query":"x"}`},
		"not a wrapper":      {`{"input":{"other":"x"}}`, `{"input":{"other":"x"}}`},
		"no wrapper name":    {`{"data":{"query":"x"}}`, `{"data":{"query":"x"}}`},
		"all as text":        {`"{\"query\":\"x\"}"`, `{"query":"x"}`},
		"lone text":          {`"x"`, `{"query":"x"}`},
		"lone number":        {`5`, `{"query":"5"}`},
		"nothing":            {``, `{}`},
		"null":               {`null`, `{}`},
		"null limit":         {`{"query":"x","limit":null}`, `{"query":"x"}`},
		"null as text":       {`{"query":"x","paths":"null","limit":"null"}`, `{"query":"x"}`},
		"null as a text":     {`{"query":"null"}`, `{"query":"null"}`},
		"null is no element": {`{"query":"x","paths":["null"]}`, `{"query":"x","paths":["null"]}`},
		"whole number":       {`{"query":"x","limit":7.0,"score":7.0}`, `{"query":"x","limit":7,"score":7.0}`},
		"empty stays":        {`{"query":"","lang":"go"}`, `{"query":"","lang":"go"}`},
		"twice the same key": {`{"query":1,"query":2}`, `{"query":1,"query":2}`},
		"twice in a text":    {`{"query":"x","filter":"{\"a\":1,\"a\":2}"}`, `{"query":"x","filter":"{\"a\":1,\"a\":2}"}`},
	} {
		out, fixes, _ := one(searchSchema).Check("f", json.RawMessage(c.in))
		if string(out) != c.out || (len(fixes) == 0) != (c.in == c.out) {
			t.Errorf("%s: %s\ngot  %s %v\nwant %s", name, c.in, out, fixes, c.out)
		}
	}
}

func TestArgumentGivenTwiceIsAnIssue(t *testing.T) {
	for in, path := range map[string]string{
		`{"query":"x","query":"y"}`:                   "/query",
		`{"query":"x","more":[{"a~":1,"a~":[1]}]}`:    "/more/0/a~0",
		`{"query":"x","query":"x"}`:                   "",
		`{"query":"x","more":[{"a":1},{"a":2}]}`:      "",
		`{"query":"x","more":{"a":{"b":1,"b":true}}}`: "/more/a/b",
	} {
		out, _, issues := one(searchSchema).Check("f", json.RawMessage(in))
		switch {
		case string(out) != in:
			t.Errorf("%s became %s", in, out)
		case path == "" && len(issues) > 0, path != "" && (len(issues) != 1 || issues[0].Path != path):
			t.Errorf("%s: issues %v, want one at %q", in, issues, path)
		}
		if got := Twice(json.RawMessage(in)); got != path {
			t.Errorf("Twice(%s) = %q, want %q", in, got, path)
		}
	}
}

func TestWrapperThatIsAnArgument(t *testing.T) {
	for _, schema := range []string{
		`{"properties":{"input":{"type":"object"},"query":{}}}`,
		`{"properties":{"query":{}},"additionalProperties":{"type":"object"}}`,
		`{"properties":{"Input":{"type":"object"},"query":{}}}`,
	} {
		out, _, _ := one(schema).Check("f", json.RawMessage(`{"input":{"query":1}}`))
		if !strings.Contains(lower(string(out)), `"input"`) {
			t.Errorf("%s: unwrapped: %s", schema, out)
		}
	}
}

// contract: R-11
func TestDropEmptyOptional(t *testing.T) {
	tools := []utp.Tool{{Name: "f", Schema: json.RawMessage(searchSchema)}}
	in := json.RawMessage(`{"query":"","lang":"","exact":"","other":""}`)
	out, fixes, _ := CompileWith(tools, Options{DropEmptyOptional: true}).Check("f", in)
	if string(out) != `{"query":"","other":""}` || len(fixes) != 2 || fixes[0].Path != "/lang" {
		t.Errorf("%s %v", out, fixes)
	}
	if out, _, _ := Compile(tools).Check("f", in); string(out) != string(in) {
		t.Errorf("without the option: %s", out)
	}
}

// contract: X-11 R-07
func TestIssues(t *testing.T) {
	strict := `{"type":"object","additionalProperties":false,"properties":{
		"path":{"type":"string","description":"Where  to\nlook.","minLength":2,"pattern":"^[a-z]+$"},
		"limit":{"type":"integer","minimum":1,"maximum":10},
		"rate":{"type":"number","exclusiveMinimum":0.5,"multipleOf":0.5},
		"unit":{"enum":["c","f"]},"mode":{"const":"fast"},
		"tags":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":2,"uniqueItems":true},
		"when":{"anyOf":[{"type":"integer"},{"type":"null"},{"enum":["now"]}]},
		"op":{"oneOf":[{"type":"object","properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["k","n"]},
			{"type":"object","properties":{"k":{"const":"b"},"s":{"type":"string"}},"required":["k","s"]}]},
		"one":{"oneOf":[{"type":"integer"},{"minimum":3}]},
		"form":{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]},
		"never":false,"not":{"not":{"type":"string"}},
		"sub":{"type":"object","properties":{"n":{"type":"integer","description":"How many."}},"required":["n"],"additionalProperties":false,"maxProperties":1},
		"names":{"propertyNames":{"maxLength":2}}
	},"required":["path"],"dependentRequired":{"limit":["rate"]}}`
	for _, c := range []struct {
		in   string
		want []string
	}{
		{`{}`, []string{`missing required argument "path" (string: Where to look.)`}},
		{`{"path":"ab","limit":"five","rate":1}`, []string{`/limit: want an integer, got "five"`}},
		{`{"path":{"a":1}}`, []string{`/path: want a string, got an object`}},
		{`{"path":"a"}`, []string{`/path: want at least 2 characters, got 1`}},
		{`{"path":"AB"}`, []string{`/path: want text that matches the pattern ^[a-z]+$, got "AB"`}},
		{`{"path":"ab","limit":0,"rate":1}`, []string{`/limit: want at least 1, got 0`}},
		{`{"path":"ab","limit":11,"rate":0.5}`, []string{`/limit: want at most 10, got 11`, `/rate: want more than 0.5, got 0.5`}},
		{`{"path":"ab","rate":0.7}`, []string{`/rate: want a multiple of 0.5, got 0.7`}},
		{`{"path":"ab","limit":1}`, []string{`missing required argument "rate" (number), needed together with "limit"`}},
		{`{"path":"ab","unit":"kelvin","mode":"slow"}`, []string{`/mode: want "fast", got "slow"`, `/unit: want one of "c", "f", got "kelvin"`}},
		{`{"path":"ab","tags":[]}`, []string{`/tags: want at least 1 item, got 0`}},
		{`{"path":"ab","tags":["a","b","a",{}]}`, []string{`/tags/3: want a string, got an object`, `/tags: items 0 and 2 are equal; want every item once`, `/tags: want at most 2 items, got 4`}},
		{`{"path":"ab","when":[1]}`, []string{`/when: want an integer or null or "now", got an array of 1`}},
		{`{"path":"ab","op":{"k":"a"}}`, []string{`/op: missing required field "n" (integer)`}},
		{`{"path":"ab","op":{"k":"b","s":[]}}`, []string{`/op/s: want a string, got an array of 0`}},
		{`{"path":"ab","op":{"k":"z"}}`, []string{`/op: fits none of the allowed forms: missing required field "n" (integer); or missing required field "s" (string)`}},
		{`{"path":"ab","one":5}`, []string{`/one: fits two of the allowed forms at once; give the fields of one form only`}},
		{`{"path":"ab","form":{}}`, []string{`/form: fits none of the allowed forms: missing required field "a"; or missing required field "b"`}},
		{`{"path":"ab","never":1}`, []string{`/never: this is not allowed here`}},
		{`{"path":"ab","not":"x"}`, []string{`/not: this value is not allowed, got "x"`}},
		{`{"path":"ab","sub":{"m":1}}`, []string{`/sub/m: there is no such field; want n`, `/sub: missing required field "n" (integer: How many.)`}},
		{`{"path":"ab","names":{"abc":1}}`, []string{`the name "abc" is not allowed`}},
		{`{"path":"ab","zzz":1}`, []string{`/zzz: there is no such argument; want path, limit, rate, unit, mode, tags, when, op, one, form, never, not, sub, names`}},
		{`[1,2]`, []string{`/path: want a string, got an array of 2`}},
		{`{"path":`, []string{`the arguments are not valid JSON: offset 8: unexpected end of JSON input`}},
	} {
		_, _, issues := one(strict).Check("f", json.RawMessage(c.in))
		if got := strings.Join(texts(issues), "\n"); got != strings.Join(sorted(c.want), "\n") {
			t.Errorf("%s\ngot\n%s\nwant\n%s", c.in, got, strings.Join(sorted(c.want), "\n"))
		}
	}
}

// sorted puts "/tags" before "/tags/3", as Issues are.
func sorted(want []string) []string {
	for i := range want {
		for j := i + 1; j < len(want); j++ {
			a, _, _ := strings.Cut(want[i], ":")
			b, _, _ := strings.Cut(want[j], ":")
			if strings.HasPrefix(a, "/") && b < a {
				want[i], want[j] = want[j], want[i]
			}
		}
	}
	return want
}

func TestManyIssues(t *testing.T) {
	s := one(`{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`)
	_, _, issues := s.Check("f", json.RawMessage(`{"a":[`+strings.Repeat(`{},`, 50)+`{}]}`))
	if len(issues) != 10 || issues[9].Message != "and 42 more problems of this sort" || issues[0].Path != "/a/0" {
		t.Errorf("%v", texts(issues))
	}
}

// Changing many values must not cost more than going through them.
func TestManyFixes(t *testing.T) {
	s := one(`{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`)
	const n = 20_000
	out, fixes, issues := s.Check("f", json.RawMessage(`{"a":[`+strings.Repeat(`"1",`, n)+`1]}`))
	if len(fixes) != n || issues != nil || string(out) != `{"a":[`+strings.Repeat(`1,`, n)+`1]}` {
		t.Error(len(fixes), len(issues), len(out))
	}
}

// Schemas that refer to themselves through alternatives, on the spot or with
// every level of the value, end.
func TestEndlessSchemas(t *testing.T) {
	for _, schema := range []string{
		`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]},"b":{"oneOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]}}}`,
		`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"array","minItems":2,"items":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"array","items":{"$ref":"#/$defs/a"}}]}}}}`,
	} {
		for _, quote := range []string{`"`, ``} {
			one(schema).Describe("f")
			in := `{"x":` + quote + strings.Repeat("[", 60) + strings.Repeat("]", 60) + quote + `}`
			out, _, issues := one(schema).Check("f", json.RawMessage(in))
			if string(out) != in || len(issues) == 0 {
				t.Errorf("%s: %s %v", schema, out, issues)
			}
		}
	}
}

// References that multiply without end in sight cost what they are worth.
func TestMultiplyingReferences(t *testing.T) {
	var defs []string
	for i := range 12 {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
		defs = append(defs, fmt.Sprintf(`"d%d":{"anyOf":[%s]}`, i, strings.Repeat(ref+",", 9)+ref))
	}
	s := one(`{"properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{` + strings.Join(defs, ",") + `,"d12":{"type":"integer"}}}`)
	if s.Broken() != nil || s.Kind("f", "x") != Integer || len(s.Describe("f")) > 1000 {
		t.Error(s.Broken(), s.Kind("f", "x"), s.Describe("f"))
	}
	in := `{"x":"5"}`
	out, fixes, issues := s.Check("f", json.RawMessage(in))
	if string(out) != in || fixes != nil || len(issues) != 1 {
		t.Error(string(out), fixes, issues)
	}
}

// contract: R-11
func TestDropEmptyAlone(t *testing.T) {
	s := Compile([]utp.Tool{{Name: "f", Schema: json.RawMessage(searchSchema)}})
	out, fixes := s.DropEmpty("f", json.RawMessage(`{"query":"", "lang":"","exact":"true"}`))
	if string(out) != `{"query":"","exact":"true"}` || len(fixes) != 1 || fixes[0].Path != "/lang" {
		t.Errorf("%s %v", out, fixes)
	}
	for _, in := range []string{`{"query": "","lang":"go"}`, `[1]`, `{`, ``} {
		if out, fixes := s.DropEmpty("f", json.RawMessage(in)); string(out) != in || fixes != nil {
			t.Errorf("%s became %s, %v", in, out, fixes)
		}
	}
}

// Arguments that a schema does not know are named, with the likeliest one that was
// meant, whether it forbids them, says nothing of them, or lacks another.
//
// contract: X-11
func TestUnknownArgumentsAreNamed(t *testing.T) {
	args := json.RawMessage(`{"path":"a","max_linse":1,"bogus":2}`)
	const near, far = `/max_linse: there is no such argument (did you mean max_lines?); want path, max_lines`, `/bogus: there is no such argument; want path, max_lines`
	for schema, want := range map[string][2]string{
		`{"properties":{"path":{},"max_lines":{}}}`:                              {"", far + "\n" + near},
		`{"properties":{"path":{},"max_lines":{}},"additionalProperties":false}`: {far + "\n" + near, ""},
		`{"properties":{"path":{},"max_lines":{}},"additionalProperties":true}`:  {"", ""},
		`{"properties":{"path":{},"max_lines":{}},"patternProperties":{"x":{}}}`: {"", ""},
		`{"properties":{"path":{"type":"integer"},"max_lines":{}}}`:              {far + "\n" + near + "\n" + `/path: want an integer, got "a"`, far + "\n" + near},
		`{}`: {"", ""},
	} {
		s := Compile([]utp.Tool{{Name: "f", Schema: json.RawMessage(schema)}})
		words := func(is []Issue) string {
			var lines []string
			for _, i := range is {
				lines = append(lines, i.Error())
			}
			slices.Sort(lines)
			return strings.Join(lines, "\n")
		}
		_, _, wrong := s.Check("f", args)
		if got := [2]string{words(wrong), words(s.Unknown("f", args))}; got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", schema, got, want)
		}
	}
}

// An issue says what stands there: in the first element of a list, too, and beyond a
// bound that is written as a text.
func TestIssuesShowTheValue(t *testing.T) {
	for _, c := range [][3]string{
		{`{"properties":{"n":{"type":"number","exclusiveMinimum":"5"}}}`, `{"n":4}`, `/n: want more than 5, got 4`},
		{`{"properties":{"l":{"type":"array","items":{"type":"object"}}}}`, `{"l":["x y"]}`, `/l/0: want an object, got "x y"`},
		{`{"properties":{"s":{"type":"integer"}},"required":["s"]}`, `{"s":null}`, `/s: want an integer, got null`},
	} {
		_, _, issues := one(c[0]).Check("f", json.RawMessage(c[1]))
		if len(issues) != 1 || issues[0].Path+": "+issues[0].Message != c[2] {
			t.Errorf("%s: %v, want %s", c[1], issues, c[2])
		}
	}
}
