package schema

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

func named(names ...string) []utp.Tool {
	var out []utp.Tool
	for _, n := range names {
		out = append(out, utp.Tool{Name: n, Schema: json.RawMessage(searchSchema)})
	}
	return out
}

func TestResolve(t *testing.T) {
	plain := named("get_weather", "math.factorial", "mcp__docs__search", "mcp__web__fetch", "mcp__git__fetch", "tool2", "Edit", "edit", "web search")
	for written, want := range map[string]string{
		"get_weather":                       "get_weather",
		"Get-Weather":                       "get_weather",
		"getWeather":                        "get_weather",
		"get weather":                       "get_weather",
		"GET_WEATHER":                       "get_weather",
		"functions.get_weather":             "get_weather",
		"functions.getWeather":              "get_weather",
		"functions.get_weather:0":           "get_weather",
		"get_weather:12":                    "get_weather",
		"default_api.get_weather":           "get_weather",
		"default_api:get_weather":           "get_weather",
		"tools.get_weather":                 "get_weather",
		"weather/get_weather":               "get_weather",
		"get_weather.get_weather":           "get_weather",
		"server__get_weather":               "get_weather",
		"a::b.get_weather":                  "get_weather",
		"`get_weather`":                     "get_weather",
		"get_weather()":                     "get_weather",
		"math_factorial":                    "math.factorial",
		"factorial":                         "math.factorial",
		"search":                            "mcp__docs__search",
		"docs__search":                      "mcp__docs__search",
		"docs.search":                       "mcp__docs__search",
		"other.search":                      "mcp__docs__search",
		"fetch":                             "", // two tools end so
		"web.fetch":                         "mcp__web__fetch",
		"tool2":                             "tool2",
		"tool":                              "",
		"EDIT":                              "", // two tools in other case
		"Web Search":                        "web search",
		"get_wether":                        "", // similar is not enough
		"weather":                           "",
		"":                                  "",
		"...":                               "",
		"functions.":                        "",
		"__":                                "",
		"factorial.math.factorial:3":        "math.factorial",
		"functions.mcp__web__fetch":         "mcp__web__fetch",
		"no_function":                       "",
		"functions.functions.get_weather:0": "get_weather",
	} {
		got, fix, ok := Compile(plain).Resolve(written)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
		if (fix != nil) != (ok && got != written) {
			t.Errorf("%q: fix %v", written, fix)
		}
		if fix != nil && (fix.Path != "" || fix.Was != written || fix.Now != want || fix.Why == "") {
			t.Errorf("%q: fix %+v", written, fix)
		}
	}
}

func TestNearest(t *testing.T) {
	s := Compile(named("get_weather", "get_whether", "search_code", "a", "unrelated"))
	for name, want := range map[string][]string{
		"get_wether": {"get_weather", "get_whether"},
		"search":     {"search_code"},
		"b":          nil,
		"":           nil,
	} {
		if got := s.Nearest(name); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestKey(t *testing.T) {
	s := one(`{"properties":{"file_path":{},"maxResults":{},"a":{},"A":{},"text":{}},"patternProperties":{"^x-":{}}}`)
	for written, want := range map[string]string{
		"file_path": "file_path", "filePath": "file_path", "File-Path": "file_path", "filepath": "file_path",
		"max_results": "maxResults", "MAXRESULTS": "maxResults",
		"a": "a", "A": "A", "path": "path", "content": "content", "": "", "x-Text": "x-Text", "-": "-",
	} {
		got, fix := s.Key("f", written)
		if got != want || (fix != nil) != (got != written) {
			t.Errorf("%q: %q %v", written, got, fix)
		}
		if fix != nil && (fix.Path != "/"+want || fix.Was != written || fix.Now != want) {
			t.Errorf("%q: %+v", written, fix)
		}
	}
}

func aliased() *Set {
	tools := []utp.Tool{
		{Name: "model", Schema: json.RawMessage(`{"properties":{"action":{"enum":["list","current"]},"page":{"type":"integer"}},"required":["action"]}`)},
		{Name: "history", Schema: json.RawMessage(`{"properties":{"action":{"type":"string"},"n_messages":{"type":"integer"},"count":{"type":"integer"}}}`)},
		{Name: "web_search", Schema: json.RawMessage(`{"properties":{"query":{"type":"string"},"max_results":{"type":"integer"}},"required":["query"]}`)},
	}
	return CompileWith(tools, Options{Aliases: []Alias{
		{From: "show_models", To: "list_models"},
		{From: "list_models", To: "model", Defaults: json.RawMessage(`{"action":"list","page":1}`)},
		{From: "search", To: "nowhere"},
		{From: "search", To: "web_search"},
		{From: "get_recent_history", To: "history", Defaults: json.RawMessage(`{"action":"recent"}`), Args: map[string]string{"limit": "n_messages"}},
		{From: "forget_history", To: "history", Args: map[string]string{"limit": "count"}},
		{From: "loop_a", To: "loop_b"}, {From: "loop_b", To: "loop_a"},
		{From: "model", To: "web_search"},
		{Args: map[string]string{"q": "query", "max_results": "n_results", "text": "content"}},
		{From: "bad", To: "model", Defaults: json.RawMessage(`[1]`)},
	}})
}

// contract: W-03 CON-31
func TestAliases(t *testing.T) {
	s := aliased()
	for written, want := range map[string]string{
		"Show Models": "model", "list-models": "model", "functions.list_models": "model", "search": "web_search",
		"model": "model", "loop_a": "", "nowhere": "",
	} {
		got, fix, ok := s.Resolve(written)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q %v", written, got, fix)
		}
	}
	out, fixes, issues := s.Check("show_models", json.RawMessage(`{"page":"3"}`))
	if string(out) != `{"page":3,"action":"list"}` || len(fixes) != 2 || issues != nil {
		t.Errorf("%s %v %v", out, fixes, issues)
	}
	if out, _, _ := s.Check("model", json.RawMessage(`{"action":"current"}`)); string(out) != `{"action":"current"}` {
		t.Errorf("defaults without the alias: %s", out)
	}
	if got := s.Describe("list_models"); got != `model(action: "list"|"current", page?: integer)` {
		t.Error(got)
	}
	if b := s.Broken(); len(b) != 1 || b[0].Path != "bad" {
		t.Error(b)
	}
}

// contract: W-04
func TestAliasedKeys(t *testing.T) {
	s := aliased()
	for _, c := range [][3]string{
		{"get_recent_history", "limit", "n_messages"},
		{"forget_history", "Limit", "count"},
		{"history", "limit", "limit"}, // two aliases disagree
		{"web_search", "q", "query"},
		{"web_search", "max_results", "max_results"}, // the tool has it
		{"web_search", "text", "text"},               // the tool lacks the target
	} {
		if got, _ := s.Key(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: %s", c[0], c[1], got)
		}
	}
	out, _, _ := s.Check("search", json.RawMessage(`{"q":"x","query_":"y"}`))
	if string(out) != `{"query":"x","query_":"y"}` {
		t.Errorf("%s", out)
	}
}
