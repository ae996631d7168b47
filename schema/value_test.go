package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

const kinds = `{"properties":{
	"any":{"description":"x"},"str":{"type":"string"},"pat":{"type":"string","pattern":"^a"},"opt":{"anyOf":[{"type":"string"},{"type":"null"}]},
	"pick":{"type":"string","enum":["Go","C"]},"optpick":{"enum":["Go",null]},"int":{"type":"integer"},"optint":{"type":["integer","null"]},
	"num":{"type":"number"},"bool":{"type":"boolean"},"obj":{"type":"object"},"arr":{"type":"array","items":{"type":"string"}},
	"nul":{"type":"null"},"mix":{"type":["string","integer"]},"no":{"allOf":[{"type":"string"},{"type":"integer"}]}},
	"anyOf":[{"properties":{"late":{"type":"integer"}}},{"properties":{"late":{"type":"boolean"}}}]}`

func TestKind(t *testing.T) {
	s := one(kinds)
	for key, want := range map[string]Kind{
		"any": Any, "str": String, "pat": String, "opt": StringOrNull, "pick": Choice, "optpick": Mixed, "int": Integer, "optint": Integer,
		"num": Number, "bool": Boolean, "obj": Object, "arr": Array, "nul": Null, "mix": Mixed, "no": Any, "late": Mixed, "absent": Any,
	} {
		if got := s.Kind("f", key); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	if Kind(-1).String() != "unknown" || Mixed.String() != "mixed" {
		t.Error("String")
	}
}

func TestTextValue(t *testing.T) {
	s := one(kinds)
	for _, c := range []struct {
		key, text, want string
		fixed           bool
	}{
		{"any", "5", `"5"`, false},
		{"absent", "5", `"5"`, false},
		{"str", " 5\n<b>", `" 5\n<b>"`, false},
		{"str", `"q"`, `"\"q\""`, false},
		{"arr", "null", `null`, false},
		{"arr", " null\n", `null`, false},
		{"opt", "null", `null`, false},
		{"opt", "None", `"None"`, false},
		{"opt", " x", `" x"`, false},
		{"pick", "go", `"Go"`, true},
		{"pick", "Go", `"Go"`, false},
		{"pick", "rust", `"rust"`, false},
		{"optpick", "null", `null`, false},
		{"int", "5", `5`, false},
		{"int", "\n5\n", `5`, false},
		{"int", "5.0", `5`, true},
		{"int", "1.5", `"1.5"`, false},
		{"int", "five", `"five"`, false},
		{"int", "null", `null`, false},
		{"int", "12345678901234567890", `12345678901234567890`, false},
		{"optint", "None", `null`, true},
		{"optint", "null", `null`, false},
		{"num", "1.50", `1.50`, false},
		{"num", "NaN", `"NaN"`, false},
		{"bool", "true", `true`, false},
		{"bool", "True", `true`, true},
		{"bool", "1", `true`, true},
		{"bool", "maybe", `"maybe"`, false},
		{"obj", `{"a": 1}`, `{"a": 1}`, false},
		{"obj", `{'a': 1}`, `{"a":1}`, true},
		{"obj", `nothing`, `"nothing"`, false},
		{"arr", `["a"]`, `["a"]`, false},
		{"arr", `a`, `["a"]`, true},
		{"nul", `null`, `null`, false},
		{"mix", "5", `5`, false},
		{"mix", "x", `"x"`, false},
		{"late", "true", `true`, false},
		{"late", "7", `7`, false},
	} {
		got, fix := s.TextValue("f", c.key, c.text)
		if string(got) != c.want || (fix != nil) != c.fixed {
			t.Errorf("%s %q: %s %v, want %s", c.key, c.text, got, fix, c.want)
		}
		if fix != nil && (fix.Path != "/"+c.key || fix.Was != c.text || fix.Now != c.want) {
			t.Errorf("%s %q: %+v", c.key, c.text, fix)
		}
	}
}

// Text that may be passed on as it arrives must come out as it went in.
func TestTextIsOnlyQuoted(t *testing.T) {
	s := one(kinds)
	for _, key := range s.Order("f") {
		for _, text := range []string{"null", "5", "true", "[1]", "Go", "go", "", " x "} {
			out, fix := s.TextValue("f", key, text)
			if s.Kind("f", key).Text() && (string(out) != string(quote(text)) || fix != nil) {
				t.Errorf("%s %q: %s", key, text, out)
			}
		}
	}
}

func TestIntegral(t *testing.T) {
	for in, want := range map[string]string{
		"7": "7", "7.0": "7", "-7.00": "-7", "1e3": "1000", "1.5e1": "15", "15e-1": "", "150e-1": "15", "0.0": "0", "-0.0": "0",
		"0e50": "", "0e5": "0", "1e39": "1" + strings.Repeat("0", 39), "1e999": "", "0.5": "", "0.000e-3": "0", "10.50e1": "105",
	} {
		if got, ok := integral(in); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", in, got, ok, want)
		}
	}
}

func TestTame(t *testing.T) {
	for in, want := range map[string]string{
		"1.5": "1.5", "1e999": "1e999", "1e1000": "1e999", "-1e99999999999999999999": "-1e999", "1e-5000": "1e-999",
		"0e5000": "0", "-0.0e-5000": "0", strings.Repeat("9", 1000): "1e999", "5e-99999999999999999999": "1e-999",
	} {
		if got := tame(in); string(got) != want {
			t.Errorf("%.20s: %s, want %s", in, got, want)
		}
	}
}

func TestPython(t *testing.T) {
	for in, want := range map[string]string{
		`['a', "b"]`: `["a","b"]`, `(1, 2,)`: `[1,2]`, `{}`: `{}`, `[]`: `[]`, `{'a': None, "b": [True, False]}`: `{"a":null,"b":[true,false]}`,
		`['it\'s', 'say "x"', 'a\nb', 'é\d']`: `["it's","say \"x\"","a\nb","é\\d"]`,
		`[+1, -.5, 1e3]`:                      `[1,-0.5,1e3]`,
		`[1,,2]`:                              ``, `[1 2]`: ``, `{'a'}`: ``, `['a]`: ``, `[x]`: ``, `[1] 2`: ``, `'a'`: ``, ``: ``, `[`: ``,
		`[1_000, 0x1F, r'a\d', b'x', 'a' 'b', """c""", 1+2]`: `[1000,31,"a\\d","x","ab","c",3]`, "[1, # one\n 2]": `[1,2]`, `{a: 1}`: `{"a":1}`,
		`{'a': 1`: ``, `['\`: ``, `['\x4']`: `["\\x4"]`, strings.Repeat("[", 1000): ``,
	} {
		got, ok := python(in)
		if ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s: %s %v, want %s", in, got, ok, want)
		}
	}
}

func TestParseKeepsText(t *testing.T) {
	in := `{ "a\u0062" : [ 1.50 , -0 , 12345678901234567890 ], "s":"\ud83d\ude00 \/", "e":{}, "l":[], "t":true,"f":false, "n" : null }`
	n, err := parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if n.keys[0].name != "ab" || n.kids[1].text() != "😀 /" || n.size != 11 || !n.loose {
		t.Errorf("%+v", n)
	}
	n.rebuild()
	want := `{"a\u0062":[ 1.50 , -0 , 12345678901234567890 ],"s":"\ud83d\ude00 \/","e":{},"l":[],"t":true,"f":false,"n":null}`
	if string(n.raw) != want {
		t.Errorf("%s", n.raw)
	}
	var plain any
	if err := json.Unmarshal([]byte(in), &plain); err != nil || len(plain.(map[string]any)) != len(n.val.(map[string]any)) {
		t.Error(plain, n.val)
	}
	if _, err := parse([]byte(`{"a":1]`)); err == nil || !strings.Contains(err.Error(), "offset 7") {
		t.Error(err)
	}
}

// What a text holds twice, with different values, is not taken out of the text:
// nobody knows which of the two is meant.
func TestContainerHoldsNothingTwice(t *testing.T) {
	for _, text := range []string{`{"a":1,"a":2}`, `[{"a":{},"a":[]}]`, `{'a':1,'a':2}`} {
		if n, why, ok := container(text); ok {
			t.Errorf("%s: %s, %s", text, n.raw, why)
		}
	}
	if _, _, ok := container(`{"a":1,"a":1}`); !ok {
		t.Error("the same value twice is no doubt")
	}
}

// Elements that have a name of their own, as XML has them, are the list that is
// wanted; an object that may be one stays as it is.
func TestElementsOfAnyNameAreAList(t *testing.T) {
	s := one(`{"properties":{"tags":{"type":"array","items":{"type":"string"}},"free":{"type":["array","object"]},"rows":{"type":"array","items":{"type":"object"}}}}`)
	for _, c := range []struct{ key, value, want string }{
		{"tags", `{"tag":["a","b"]}`, `["a","b"]`},
		{"tags", `{"tag":"a"}`, `["a"]`},
		{"tags", `{"tag":["a"],"more":"b"}`, `{"tag":["a"],"more":"b"}`},
		{"tags", `{"tag":{"x":1}}`, `{"tag":{"x":1}}`},
		{"free", `{"tag":["a"]}`, `{"tag":["a"]}`},
		{"rows", `{"row":[{"n":1}]}`, `[{"row":[{"n":1}]}]`},
	} {
		out, fixes := s.Value("f", c.key, json.RawMessage(c.value))
		if string(out) != c.want || len(fixes) == 0 != (c.want == c.value) {
			t.Errorf("%s %s: %s %v, want %s", c.key, c.value, out, fixes, c.want)
		}
	}
}
