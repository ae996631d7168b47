package schema

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

// A scalar of an argument that only a type limits is not validated; what comes out is
// what comes out of a schema that has to be.
func TestScalarsWithoutBoundsAsWithThem(t *testing.T) {
	values := []string{`"a"`, `""`, `"5"`, `"true"`, "5", "-5", "0", "5.0", "5.5", "1e3", "true", "false", "null", "[]", "[1]", `{"a":1}`, "12345678901234567890", "-", "05"}
	for _, typ := range []string{"string", "integer", "number", "boolean", "array", "object", "null"} {
		for _, bound := range []string{"", `,"minLength":2`, `,"minimum":1`, `,"enum":["a",5,true]`, `,"pattern":"b"`, `,"description":"x","default":1`} {
			free := fmt.Sprintf(`{"type":"object","properties":{"k":{"type":%q%s}}}`, typ, bound)
			held := fmt.Sprintf(`{"type":"object","properties":{"k":{"type":%q%s,"allOf":[{}]}}}`, typ, bound)
			a, b := Compile([]utp.Tool{{Name: "f", Schema: []byte(free)}}), Compile([]utp.Tool{{Name: "f", Schema: []byte(held)}})
			for _, v := range values {
				got, fixes := a.Value("f", "k", []byte(v))
				want, wanted := b.Value("f", "k", []byte(v))
				if string(got) != string(want) || fmt.Sprint(fixes) != fmt.Sprint(wanted) {
					t.Errorf("%s of %s: %s %v, want %s %v", v, free, got, fixes, want, wanted)
				}
			}
			if g, w := a.Kind("f", "k"), b.Kind("f", "k"); g != w {
				t.Errorf("%s: kind %v, want %v", free, g, w)
			}
		}
	}
}

// No name that means a tool is passed over because of how it ends.
func TestEndsPassOverNoName(t *testing.T) {
	names := []string{"search_code", "getWeather", "a", "x.y", "mcp__docs__search", "b2", "délai", "K"}
	aliases := []Alias{{From: "look-up", To: "search_code"}, {From: "g", To: "a"}}
	var tools []utp.Tool
	for _, name := range names {
		tools = append(tools, utp.Tool{Name: name})
	}
	set := CompileWith(tools, Options{Aliases: aliases})
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(append(names, "look-up", "g", "search", "y", "the")).Draw(t, "name")
		name = rapid.SampledFrom([]string{"", "functions.", "a__", "x/"}).Draw(t, "before") + name + rapid.SampledFrom([]string{"", ":0", "()", "_", " ", "'"}).Draw(t, "behind")
		if i := rapid.IntRange(0, len(name)).Draw(t, "at"); rapid.Bool().Draw(t, "split") {
			name = name[:i] + rapid.SampledFrom([]string{"_", "-", ".", " "}).Draw(t, "mark") + name[i:]
		}
		if rapid.Bool().Draw(t, "upper") {
			name = upper(name)
		}
		if tool, _, _ := set.meant(name); tool != "" && !set.spelled().ends.may(name) {
			t.Fatalf("%q means %s and is passed over", name, tool)
		}
	})
}

func upper(s string) string {
	out := []byte(s)
	for i, c := range out {
		if 'a' <= c && c <= 'z' {
			out[i] = c - 'a' + 'A'
		}
	}
	return string(out)
}
