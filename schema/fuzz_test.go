package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// lawful checks what holds for any schema and any arguments.
func lawful(t interface{ Fatalf(string, ...any) }, s *Set, args string) {
	out, fixes, issues := s.Check("f", json.RawMessage(args))
	if len(issues) > maxIssues {
		t.Fatalf("%d issues", len(issues))
	}
	if _, _, again := s.Check("f", json.RawMessage(args)); !reflect.DeepEqual(issues, again) {
		t.Fatalf("issues differ from call to call:\n%v\n%v", texts(issues), texts(again))
	}
	if len(fixes) == 0 && string(out) != args {
		t.Fatalf("changed without a fix: %s", out)
	}
	if !json.Valid([]byte(args)) && strings.TrimSpace(args) != "" {
		if string(out) != args || len(issues) == 0 {
			t.Fatalf("not JSON, but %s %v", out, issues)
		}
		return
	}
	if !json.Valid(out) {
		t.Fatalf("result is not JSON: %s", out)
	}
	again, more, rest := s.Check("f", out)
	if string(again) != string(out) || len(more) > 0 || !reflect.DeepEqual(rest, issues) {
		t.Fatalf("not settled:\nargs   %s\nfirst  %s %v\nsecond %s %v", args, out, fixes, again, more)
	}
}

// contract: X-09
func FuzzCheck(f *testing.F) {
	for _, schema := range []string{searchSchema, kinds, ``, `{"type":"STRING"}`, `{"properties":{"a":{"anyOf":[{"type":"array","items":{"$ref":"#"}},{"type":"integer"}]}},"required":["a"]}`,
		`{"properties":{"a":{"oneOf":[{"const":1},{"enum":["x","X"]},{"type":"object","patternProperties":{"^a":{"type":"null"}}}]}},"additionalProperties":false}`} {
		for _, args := range []string{`{"query":1,"limit":"5","paths":"['a']","filter":{"maxAge":null}}`, `{"a":"[[1],\"2\"]"}`, `{"input":{"a":"X"}}`, `"x"`, ``, `{`, `{"a":1e999999999}`} {
			f.Add(schema, args)
		}
	}
	f.Fuzz(func(t *testing.T, schema, args string) {
		if len(schema) > 2000 || len(args) > 2000 {
			return
		}
		s := one(schema)
		lawful(t, s, args)
		s.Broken()
		s.Describe("f")
		for _, key := range append(s.Order("f"), args) {
			s.Key("f", key+"_")
			v, _ := s.TextValue("f", key, args)
			if !json.Valid(v) {
				t.Fatalf("TextValue of %s: %s", key, v)
			}
			if s.Kind("f", key).Text() && string(v) != string(quote(args)) {
				t.Fatalf("text changed: %s", v)
			}
		}
	})
}

// FuzzParse holds the reader to encoding/json.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null],"b":"\u00e9\n"}`, `[1,]`, `{"a"}`, `"\x"`, "\"\x01\"", `01`, `-`, `[[[`, `1 2`, ``, ` `, `tru`, `{,}`, `"\ud800"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parse([]byte(s))
		if (err == nil) != json.Valid([]byte(s)) {
			t.Fatalf("%q: %v, json.Valid %v", s, err, err != nil)
		}
		if err == nil && string(n.raw) != strings.Trim(s, " \t\r\n") {
			t.Fatalf("%q: raw %q", s, n.raw)
		}
	})
}

func TestNesting(t *testing.T) {
	for _, n := range []int{9_999, 10_000, 10_001} {
		s := strings.Repeat("[", n) + strings.Repeat("]", n)
		if _, err := parse([]byte(s)); (err == nil) != json.Valid([]byte(s)) {
			t.Errorf("%d levels: %v", n, err)
		}
	}
}
