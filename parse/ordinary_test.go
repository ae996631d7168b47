package parse_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// everyday are tools with names that ordinary text is full of.
var everyday = schema.Compile([]utp.Tool{
	{Name: "search", Schema: []byte(`{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]}`)},
	{Name: "get_weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)},
	{Name: "read_file", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
	{Name: "run", Schema: []byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
	{Name: "now"},
})

// writer makes ordinary replies: what models say when they call nothing.
type writer struct{ *rand.Rand }

func (w writer) of(words ...string) string { return words[w.Intn(len(words))] }

func (w writer) tool() string { return w.of(everyday.Names()...) }

func (w writer) noun() string {
	return w.of("scheduler", "parser", "cache", "index", "token", "queue", "handler", "schema", "gateway", "session", "buffer", "model", "weather", "file", "city", "result", "error", "stream", "user", "config")
}

func (w writer) verb() string {
	return w.of("reads", "writes", "keeps", "drops", "returns", "calls", "opens", "checks", "merges", "sorts", "searches", "runs", "copies", "ignores", "holds")
}

func (w writer) city() string {
	return w.of("Oslo", "Bergen", "Paris", "Kyoto", "Lima", "Accra", "Quito")
}

func (w writer) sentence() string {
	switch w.Intn(12) {
	case 0:
		return fmt.Sprintf("You can call `%s` to look at the %s.", w.tool(), w.noun())
	case 1:
		return fmt.Sprintf("Use %s() when the %s %s the %s.", w.tool(), w.noun(), w.verb(), w.noun())
	case 2:
		return fmt.Sprintf("The %s tool %s a %s; see `%s.go:%d`.", w.tool(), w.verb(), w.noun(), w.noun(), w.Intn(900))
	case 3:
		return fmt.Sprintf("It is %d < %d and x[%d] = {%s}, \"%s\" 'n' all.", w.Intn(9), 10+w.Intn(90), w.Intn(9), w.noun(), w.noun())
	case 4:
		return fmt.Sprintf("In short: `%s(%q)` %s the %s (and %s).", w.tool(), w.city(), w.verb(), w.noun(), w.noun())
	case 5:
		return fmt.Sprintf("I would not %s anything here, because the %s %s it.", w.of("run", "search", "read"), w.noun(), w.verb())
	}
	return fmt.Sprintf("%s %s %s the %s %s a %s.", w.of("The", "Every", "This", "Our"), w.noun(), w.verb(), w.noun(), w.of("before it", "after it", "and then"), w.noun())
}

func (w writer) paragraph() string {
	var out []string
	for range 2 + w.Intn(4) {
		out = append(out, w.sentence())
	}
	return strings.Join(out, " ")
}

// fenced is a block of code with words around it.
func (w writer) fenced(tag, code string) string {
	return w.paragraph() + "\n\n```" + tag + "\n" + code + "\n```\n\n" + w.paragraph()
}

func (w writer) object() string {
	return fmt.Sprintf(`{"name": %q, "age": %d, "tags": ["%s", "%s"], "inner": {"id": %d, "ok": %t, "note": null}}`,
		w.of("Bob", "Ada", "no_function", "widget", "none"), w.Intn(99), w.noun(), w.noun(), w.Intn(1000), w.Intn(2) == 0)
}

// ordinary are the kinds of replies, by name.
var ordinary = []struct {
	name string
	make func(w writer) string
}{
	{"prose", func(w writer) string { return w.paragraph() + "\n\n" + w.paragraph() }},
	{"list", func(w writer) string {
		return w.sentence() + "\n\n- " + w.sentence() + "\n- **" + w.tool() + "**: " + w.sentence() + "\n  1. " + w.sentence() + "\n" + w.paragraph()
	}},
	{"table", func(w writer) string {
		return fmt.Sprintf("| tool | what | cost |\n|---|---|---|\n| %s | %s the %s | %d |\n| `%s(city)` | %s | %d |\n\n%s", w.tool(), w.verb(), w.noun(), w.Intn(9), w.tool(), w.noun(), w.Intn(9), w.paragraph())
	}},
	{"go", func(w writer) string {
		return w.fenced("go", fmt.Sprintf("func %s(%s string) (int, error) {\n\tif %s == \"\" {\n\t\treturn 0, errors.New(\"no %s\")\n\t}\n\treturn len(%s), nil // %s\n}", w.tool(), w.noun(), w.noun(), w.noun(), w.noun(), w.sentence()))
	}},
	{"python", func(w writer) string {
		return w.fenced("python", fmt.Sprintf("def %s(%s, limit=%d):\n    \"\"\"%s\"\"\"\n    return [x for x in %s if x.%s(limit)]\n\nprint(%s(%q))", w.tool(), w.noun(), w.Intn(99), w.sentence(), w.noun(), w.verb(), w.tool(), w.city()))
	}},
	{"python definition", func(w writer) string {
		return fmt.Sprintf("def %s(%s):\n    return %d\n\n%s", w.tool(), w.noun(), w.Intn(9), w.paragraph())
	}},
	{"javascript", func(w writer) string {
		return w.fenced(w.of("js", "javascript", "ts"), fmt.Sprintf("const %s = await %s({%s: %q});\nconsole.log(`${%s} is ${%d}`);", w.noun(), w.tool(), w.noun(), w.city(), w.noun(), w.Intn(99)))
	}},
	{"json", func(w writer) string { return w.object() }},
	{"json list", func(w writer) string { return "[\n  " + w.object() + ",\n  " + w.object() + "\n]" }},
	{"json in a fence", func(w writer) string { return w.fenced("json", w.object()) }},
	{"json in prose", func(w writer) string { return w.sentence() + " " + w.object() + " " + w.sentence() }},
	{"tool definition", func(w writer) string {
		return fmt.Sprintf(`{"type": "function", "function": {"name": %q, "description": %q, "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}`, w.tool(), w.sentence())
	}},
	{"tool definition, flat", func(w writer) string {
		return fmt.Sprintf("%s\n\n{\"name\": %q, \"description\": %q, \"parameters\": {\"type\": \"object\", \"properties\": {\"query\": {\"type\": \"string\"}}}}", w.sentence(), w.tool(), w.sentence())
	}},
	{"tool documentation", func(w writer) string {
		return w.fenced(w.of("json", "", "xml"), fmt.Sprintf(`{"name": %q, "arguments": {"city": %q}}`, w.tool(), w.city())) + "\n" + w.sentence()
	}},
	{"markup explained", func(w writer) string {
		return fmt.Sprintf("Such a model writes `<tool_call>{\"name\": %q, \"arguments\": {}}</tool_call>` and the server %s it. %s", w.tool(), w.verb(), w.paragraph())
	}},
	{"markers named", func(w writer) string {
		return fmt.Sprintf("The %s token opens a call and %s closes it. %s", w.of("`<|tool_call>`", "`[TOOL_CALLS]`", "`<tool_call>`", "`<|python_tag|>`", "`<function=…>`"), w.of("`</tool_call>`", "`</function>`", "a new line"), w.paragraph())
	}},
	{"log", func(w writer) string {
		var b strings.Builder
		for range 3 + w.Intn(5) {
			fmt.Fprintf(&b, "2026-08-%02d %02d:%02d:%02d [%s] %s: %s %s {\"id\": %d, \"name\": %q}\n", 1+w.Intn(28), w.Intn(24), w.Intn(60), w.Intn(60), w.of("INFO", "WARN", "ERROR"), w.tool(), w.verb(), w.noun(), w.Intn(999), w.noun())
		}
		return b.String() + w.sentence()
	}},
	{"shell", func(w writer) string {
		return w.fenced(w.of("sh", "bash", "console", ""), fmt.Sprintf("$ %s --%s %s | grep -n %q\n%s/%s.go:%d: func %s()\n$ echo $?\n0", w.of("git", "go", "run", "search"), w.noun(), w.noun(), w.noun(), w.noun(), w.noun(), w.Intn(99), w.tool()))
	}},
	{"html", func(w writer) string {
		return fmt.Sprintf("<div class=%q><a href=\"/%s?q=%s\">%s</a><p>%s</p><tools>%s</tools></div>\n%s", w.noun(), w.tool(), w.noun(), w.noun(), w.sentence(), w.noun(), w.paragraph())
	}},
	{"xml", func(w writer) string {
		return w.fenced("xml", fmt.Sprintf("<?xml version=\"1.0\"?>\n<%ss>\n  <%s id=\"%d\"><name>%s</name></%s>\n</%ss>", w.noun(), w.noun(), w.Intn(99), w.tool(), w.noun(), w.noun()))
	}},
	{"yaml", func(w writer) string {
		return w.fenced(w.of("yaml", "toml", "ini"), fmt.Sprintf("%s:\n  name: %s\n  args: [%s, %s]\n  %s: %d", w.noun(), w.tool(), w.noun(), w.city(), w.noun(), w.Intn(99)))
	}},
	{"sql", func(w writer) string {
		return w.fenced("sql", fmt.Sprintf("SELECT name, COUNT(*) FROM %s WHERE %s = 'x' AND search(name, '%s') GROUP BY 1;", w.noun(), w.noun(), w.city()))
	}},
	{"diff", func(w writer) string {
		return w.fenced("diff", fmt.Sprintf("--- a/%s.go\n+++ b/%s.go\n@@ -%d,3 +%d,4 @@\n-\treturn %s(x)\n+\treturn %s(x, {%d})", w.noun(), w.noun(), w.Intn(99), w.Intn(99), w.tool(), w.tool(), w.Intn(9)))
	}},
	{"math", func(w writer) string {
		return fmt.Sprintf("We have $f(x) = \\frac{%d}{x_{%d}}$ and\n\n$$\\sum_{i=1}^{n} a_i < [%d, %d]$$\n\n%s", w.Intn(99), w.Intn(9), w.Intn(9), 10+w.Intn(9), w.paragraph())
	}},
	{"plan", func(w writer) string {
		return fmt.Sprintf("Thought: %s\nAction: we should %s the %s first.\nThen: %s", w.sentence(), w.of("look at", "read", "search"), w.noun(), w.sentence())
	}},
	{"transcript", func(w writer) string {
		return fmt.Sprintf("Q: What does %s do?\nA: It %s the %s.\n\nQ: And [%s]?\nA: %s", w.tool(), w.verb(), w.noun(), w.noun(), w.sentence())
	}},
	{"nothing", func(w writer) string {
		return w.of("[]", "{}", "None", "null", "", "N/A", `{"name": "no_function"}`, `{"name": "none", "arguments": {}}`, "[None]", "No tool is needed.", "()", "``", "```\n```")
	}},
	{"csv", func(w writer) string {
		return fmt.Sprintf("name,city,run\n%s,%s,%d\n%s,%s,%d\n\n%s", w.tool(), w.city(), w.Intn(99), w.tool(), w.city(), w.Intn(99), w.sentence())
	}},
	{"quoted result", func(w writer) string {
		return fmt.Sprintf("> {\"city\": %q, \"degrees\": %d}\n\n%s", w.city(), w.Intn(30), w.paragraph())
	}},
	{"links", func(w writer) string {
		return fmt.Sprintf("See [%s](https://example.org/%s?x={%d}) and [%s][1].\n\n[1]: https://example.org/<%s>\n%s", w.tool(), w.noun(), w.Intn(9), w.tool(), w.noun(), w.sentence())
	}},
}

// TestOrdinary: of 10,000 ordinary replies at most ten have a call; each that
// has is in the golden.
func TestOrdinary(t *testing.T) {
	const replies, most = 10_000, 10
	var found strings.Builder
	calls := 0
	for i := range replies {
		kind := ordinary[i%len(ordinary)]
		text := kind.make(writer{rand.New(rand.NewSource(int64(i)))})
		for _, c := range parse.Text(parse.Config{Tools: everyday}, text).Calls() {
			calls++
			fmt.Fprintf(&found, "%s: %s %s in %q\n", kind.name, c.Name, c.Args, text)
		}
	}
	if calls > most {
		t.Errorf("%d calls in %d ordinary replies, want at most %d", calls, replies, most)
	}
	golden.File(t, "testdata/ordinary.txt", found.String())
}

// TestSentinelIsNoCall: a name that says that no tool fits, with no arguments, is no
// call in any dialect's markers; with arguments, or where it is offered, it is one.
func TestSentinelIsNoCall(t *testing.T) {
	for _, g := range grammar.All() {
		for _, name := range []string{"no_function", "none", "no_tool", "noop", "out_of_domain", "NoneType"} {
			for args, calls := range map[string]int{"{}": 0, `{"a":"b"}`: 1} {
				text, err := prompt.Call(g, utp.Call{ID: "call_0", Name: name, Args: []byte(args)})
				if err != nil {
					continue // the dialect cannot write such a call
				}
				sentinel(t, parse.Config{Grammars: []*grammar.Grammar{g}, Tools: everyday}, text, min(calls, bare(g)))
				sentinel(t, parse.Config{Grammars: []*grammar.Grammar{g}, Tools: schema.Compile([]utp.Tool{{Name: name, Schema: []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`)}})}, text, 1)
			}
		}
	}
}

// bare is 0 for a dialect of ordinary text, in which only offered tools are called.
func bare(g *grammar.Grammar) int {
	text, _ := prompt.Call(g, utp.Call{ID: "call_0", Name: "unknown_tool", Args: []byte(`{"a":"b"}`)})
	return len(parse.Text(parse.Config{Grammars: []*grammar.Grammar{g}, Tools: everyday}, text).Calls())
}

func sentinel(t *testing.T, cfg parse.Config, text string, calls int) {
	t.Helper()
	r := parse.Text(cfg, text)
	if len(r.Calls()) != calls {
		t.Errorf("%s: %d calls in %q, want %d", cfg.Grammars[0].Name, len(r.Calls()), text, calls)
	}
}
