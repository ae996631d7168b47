package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// one makes a set of a single tool named f.
func one(schema string) *Set {
	return Compile([]utp.Tool{{Name: "f", Schema: json.RawMessage(schema)}})
}

const searchSchema = `{"type":"object","properties":{
	"query":{"type":"string","description":"What to look for."},
	"limit":{"type":"integer","default":5,"minimum":1,"maximum":100},
	"exact":{"type":"boolean"},
	"paths":{"type":"array","items":{"type":"string"}},
	"lang":{"enum":["go","python","c++"]},
	"score":{"type":"number"},
	"filter":{"type":"object","properties":{"max_age":{"type":"integer"},"tag":{"type":["string","null"]}},"required":["max_age"]}
},"required":["query"]}`

// texts lists issues as one string each.
func texts(issues []Issue) []string {
	var out []string
	for _, i := range issues {
		out = append(out, i.Error())
	}
	return out
}

func TestNilSet(t *testing.T) {
	var s *Set
	if s.Len() != 0 || s.Has("f") || s.Names() != nil || s.Broken() != nil || s.Order("f") != nil || s.Nearest("f") != nil {
		t.Error("a nil set is not empty")
	}
	if _, ok := s.Tool("f"); ok {
		t.Error("Tool")
	}
	if name, fix, ok := s.Resolve("f"); name != "f" || fix != nil || ok {
		t.Error("Resolve", name, fix, ok)
	}
	if key, fix := s.Key("f", "k"); key != "k" || fix != nil {
		t.Error("Key", key, fix)
	}
	if k := s.Kind("f", "k"); k != Any {
		t.Error("Kind", k)
	}
	if v, fix := s.TextValue("f", "k", `a "b"`); string(v) != `"a \"b\""` || fix != nil {
		t.Error("TextValue", v, fix)
	}
	if v, fixes := s.Value("f", "k", json.RawMessage("1")); string(v) != "1" || fixes != nil {
		t.Error("Value", v, fixes)
	}
	if _, ok := s.Sole("f"); ok {
		t.Error("Sole")
	}
	if v, fixes, issues := s.Check("f", json.RawMessage("{")); string(v) != "{" || fixes != nil || issues != nil {
		t.Error("Check", v, fixes, issues)
	}
	if d := s.Describe("f"); d != "f" {
		t.Error("Describe", d)
	}
}

func TestSet(t *testing.T) {
	s := Compile([]utp.Tool{
		{Name: "b", Schema: json.RawMessage(searchSchema)},
		{Name: "a"},
		{Name: "b", Description: "again"},
		{Name: ""},
	})
	if got := s.Names(); !reflect.DeepEqual(got, []string{"b", "a"}) {
		t.Error("Names", got)
	}
	if tool, ok := s.Tool("b"); !ok || tool.Description != "" || s.Len() != 2 {
		t.Error("the first of two tools does not count:", tool, ok)
	}
	if got := len(s.Broken()); got != 2 {
		t.Error("Broken", s.Broken())
	}
	want := []string{"query", "limit", "exact", "paths", "lang", "score", "filter"}
	if got := s.Order("b"); !reflect.DeepEqual(got, want) {
		t.Error("Order", got)
	}
}

func TestOrderThroughReferences(t *testing.T) {
	s := one(`{"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"object","properties":{"z":{},"a":{}},"allOf":[{"properties":{"m":{}}}],
		"anyOf":[{"required":["z"]},{"properties":{"k":{}}}]}}}`)
	if got := s.Order("f"); !reflect.DeepEqual(got, []string{"z", "a", "m", "k"}) {
		t.Error(got)
	}
}

func TestSole(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"properties":{"a":{},"b":{}},"required":["b"]}`, "b"},
		{`{"properties":{"a":{}}}`, "a"},
		{`{"properties":{"a":{},"b":{}}}`, ""},
		{`{"properties":{"a":{},"b":{}},"required":["a","b"]}`, ""},
		{``, ""},
	} {
		if got, ok := one(c.schema).Sole("f"); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q %v", c.schema, got, ok)
		}
	}
}

// The schemas here are refused by a strict validator and accepted by providers.
func TestNormalise(t *testing.T) {
	for name, c := range map[string]struct{ schema, good, bad string }{
		"upper case type":    {`{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, `{"a":"x"}`, `{"a":{}}`},
		"foreign types":      {`{"type":"dict","properties":{"a":{"type":"int"},"b":{"type":"List"},"c":{"type":"any"}}}`, `{"a":1,"b":[],"c":true}`, `{"a":{}}`},
		"required flag":      {`{"properties":{"a":{"type":"string","required":true},"b":{"required":false}}}`, `{"a":"x"}`, `{}`},
		"required text":      {`{"properties":{"a":{}},"required":"a"}`, `{"a":"x"}`, `{}`},
		"items list":         {`{"properties":{"a":{"type":"array","items":[{"type":"integer"},{"type":"string"}],"additionalItems":false}}}`, `{"a":[1,"x"]}`, `{"a":[1,"x",2]}`},
		"items list draft 7": {`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{"type":"integer"}],"additionalItems":false}}}`, `{"a":[1]}`, `{"a":[1,2]}`},
		"nullable":           {`{"properties":{"a":{"type":"integer","nullable":true}},"required":["a"]}`, `{"a":null}`, `{"a":"x"}`},
		"nullable enum":      {`{"properties":{"a":{"type":"string","enum":["x"],"nullable":true}},"required":["a"]}`, `{"a":null}`, `{"a":"y"}`},
		"nullable ref":       {`{"$defs":{"i":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/i","nullable":true}},"required":["a"]}`, `{"a":null}`, `{"a":"y"}`},
		"look-behind":        {`{"properties":{"a":{"type":"string","pattern":"(?<=x)y"},"b":{"type":"integer"}}}`, `{"a":"anything","b":1}`, `{"b":{}}`},
		"bad key pattern":    {`{"patternProperties":{"(?<=x)":{"type":"integer"}},"properties":{"b":{"type":"integer"}}}`, `{"a":"x"}`, `{"b":{}}`},
		"flag minimum":       {`{"properties":{"a":{"type":"number","minimum":3,"exclusiveMinimum":true}}}`, `{"a":4}`, `{"a":3}`},
		"number in draft 4":  {`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"exclusiveMinimum":3}}}`, `{"a":4}`, `{"a":3}`},
		"bounds as text":     {`{"properties":{"a":{"type":"array","minItems":"1"},"b":{"minimum":"2"}}}`, `{"a":[1],"b":2}`, `{"b":1}`},
		"enum of integers":   {`{"properties":{"a":{"type":"INTEGER","enum":["1","2"]}}}`, `{"a":1}`, `{"a":3}`},
		"null keywords":      {`{"title":null,"properties":{"a":{"type":"integer","items":null,"enum":null,"default":null}}}`, `{"a":1}`, `{"a":{}}`},
		"odd annotations":    {`{"title":5,"properties":{"a":{"type":"integer","description":["x"],"examples":3,"anyOf":[]}}}`, `{"a":1}`, `{"a":{}}`},
		"unknown $schema":    {`{"$schema":"https://example.com/mine","properties":{"a":{"type":"integer"}}}`, `{"a":1}`, `{"a":{}}`},
		"bad $id":            {`{"$id":"my tool %%","properties":{"a":{"type":"integer"}}}`, `{"a":1}`, `{"a":{}}`},
		"format":             {`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"type":"string","format":"uri"}}}`, `{"a":"no uri"}`, `{"a":{}}`},
		"null":               {`null`, `{"a":1}`, `[]`},
		"absent":             {``, `{"a":1}`, `[]`},
		"true":               {`true`, `{"a":1}`, `[]`},
	} {
		s := one(c.schema)
		if b := s.Broken(); b != nil {
			t.Errorf("%s: broken: %v", name, b)
		}
		if out, fixes, issues := s.Check("f", json.RawMessage(c.good)); fixes != nil || issues != nil || string(out) != c.good {
			t.Errorf("%s: good %s: %s %v %v", name, c.good, out, fixes, issues)
		}
		if _, _, issues := s.Check("f", json.RawMessage(c.bad)); len(issues) == 0 {
			t.Errorf("%s: bad %s has no issue", name, c.bad)
		}
	}
}

func TestBroken(t *testing.T) {
	for name, schema := range map[string]string{
		"not JSON":       `{"type":`,
		"a list":         `[]`,
		"a file":         `{"properties":{"n":{"type":"integer"},"a":{"$ref":"file:///etc/hostname"}}}`,
		"a web address":  `{"properties":{"n":{"type":"integer"},"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`,
		"a relative":     `{"properties":{"n":{"type":"integer"},"a":{"$ref":"other.json"}}}`,
		"a dangling one": `{"properties":{"n":{"type":"integer"},"a":{"$ref":"#/components/x"}}}`,
		"properties":     `{"properties":5}`,
		"a wrong type":   `{"properties":{"n":{"type":"integer"},"a":{"type":5}}}`,
	} {
		s := one(schema)
		if got := s.Broken(); len(got) != 1 || got[0].Path != "f" || strings.Contains(got[0].Message, "utp:") {
			t.Errorf("%s: Broken: %v", name, got)
		}
		if out, fixes, issues := s.Check("f", json.RawMessage(`{"a": 1}`)); string(out) != `{"a": 1}` || fixes != nil || issues != nil {
			t.Errorf("%s: %s %v %v", name, out, fixes, issues)
		}
	}
	s := one(`{"properties":{"n":{"type":"integer"},"a":{"$ref":"file:///etc/hostname"}},"required":["n"]}`)
	if out, _ := s.TextValue("f", "n", "5"); string(out) != "5" {
		t.Errorf("types of a broken schema are not used: %s", out)
	}
}

func TestConcurrentUse(t *testing.T) {
	s := one(searchSchema)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			out, _, issues := s.Check("f", json.RawMessage(`{"query":"x","limit":"5"}`))
			if string(out) != `{"query":"x","limit":5}` || issues != nil {
				t.Error(string(out), issues)
			}
		})
	}
	wg.Wait()
}

func TestDescribe(t *testing.T) {
	for schema, want := range map[string]string{
		searchSchema: `f(query: string, limit?: integer = 5, exact?: boolean, paths?: string[], lang?: "go"|"python"|"c++", score?: number, filter?: {max_age: integer, tag?: string|null})`,
		``:           `f()`,
		`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"b":{"type":"array","items":{"type":["string","integer"]}},"c":{}}}`:       `f(a?: string|null, b?: (string|integer)[], c?: any)`,
		`{"properties":{"a":{"type":"array","items":{"type":"array","items":{"type":"array","items":{"type":"array","items":{"type":"string"}}}}}}}`:                `f(a?: array[][][])`,
		`{"properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"kid":{"$ref":"#/$defs/n"}}}}}`:                                       `f(n?: {kid?: {kid?: {kid?: object}}})`,
		`{"properties":{"a":{"anyOf":[` + strings.Repeat(`{"type":"string"},`, 8) + `{"type":"integer"}]}}}`:                                                        `f(a?: string|integer)`,
		`{"properties":{"a":{"anyOf":[` + strings.Repeat(`{"type":"string"},`, 9) + `{"type":"integer"}]}}}`:                                                        `f(a?: string|…)`,
		`{"properties":{"a":{"anyOf":[` + strings.Repeat(`{},`, 9) + `{"type":"integer"}]}}}`:                                                                       `f(a?: any)`,
		`{"properties":{"a":{"anyOf":[` + strings.Repeat(`{"type":"string"},`, 9) + `{"const":1},{}]}}}`:                                                            `f(a?: string|…)`,
		`{"properties":{"a":{"anyOf":[{"const":1},{"const":2},{"const":3},{"const":4},{"const":5},{"const":6},{"const":7},{"const":8},{"const":9},{"const":10}]}}}`: `f(a?: 1|2|3|4|5|6|7|8|…)`,
	} {
		if got := one(schema).Describe("f"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if got := one("").Describe("g"); got != "g" {
		t.Error(got)
	}
}
