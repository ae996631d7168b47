package prompt_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Each manifest that a grammar may name is there, and is used by one.
//
// contract: M-01 M-12
func TestEveryManifestIsUsed(t *testing.T) {
	for _, name := range grammar.Manifests {
		if !slices.Contains(prompt.Forms(), name) {
			t.Errorf("a grammar may ask for the manifest %s, and prompt has none", name)
		}
		if name != "lines" && !slices.ContainsFunc(grammar.All(), func(g *grammar.Grammar) bool { return g.Manifest == name }) {
			t.Errorf("no grammar asks for the manifest %s", name)
		}
	}
}

// The list of ReAct says of an argument what its schema says: one without a type
// is no string.
//
// contract: M-01
func TestReActListNamesOnlyTypesThatTheSchemaNames(t *testing.T) {
	g, _ := grammar.ByName("react")
	tool := utp.Tool{Name: "workflow", Schema: json.RawMessage(`{"type":"object","required":["args"],"properties":{
		"args":{"description":"NOT as a JSON-encoded string"},"path":{"type":"string"},"limit":{"type":["integer","string","null"]},
		"mode":{"enum":["a","b"]},"version":{"const":2},"nothing":{"type":"null"}}}`)}
	text := prompt.Tools(g, []utp.Tool{tool})
	for _, want := range []string{"args (any type, required): NOT", "path (string)\n", "limit (integer or string)\n", "mode (one of a, b)\n", "version (always 2)\n", "nothing (null)\n"} {
		if !strings.Contains(text, "- "+want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// genSchema makes schemas with what tools use: nested and optional members,
// limits, patterns, formats, unions, references.
func genSchema(depth int) *rapid.Generator[string] {
	leaves := []string{
		`{"type":"string"}`, `{"type":"string","description":"A city, e.g. 'Oslo'."}`, `{"type":"string","minLength":20,"maxLength":22}`,
		`{"type":"string","maxLength":3}`, `{"type":"string","pattern":"^[A-Z]{2}-[0-9]+$"}`, `{"type":"string","pattern":"^(a|b)c?$"}`,
		`{"type":"string","format":"date-time"}`, `{"type":"string","format":"uuid"}`, `{"enum":["x","y"]}`, `{"enum":[3,4],"type":"integer"}`,
		`{"type":"integer"}`, `{"type":"integer","minimum":500}`, `{"type":"integer","exclusiveMaximum":0}`, `{"type":"integer","multipleOf":10}`,
		`{"type":"number","exclusiveMinimum":1.5,"maximum":2.5}`, `{"type":"number"}`, `{"type":"boolean"}`, `{"type":"boolean","default":false}`,
		`{"type":["null","string"]}`, `{"anyOf":[{"type":"integer"},{"type":"null"}]}`, `{"oneOf":[{"type":"string","maxLength":5},{"type":"integer"}]}`,
		`{"const":"fixed"}`, `{"$ref":"#/$defs/place"}`, `{"type":"object"}`, `{"type":"object","additionalProperties":{"type":"integer"}}`,
		`{"type":"array"}`, `{"type":"array","maxItems":1}`, `{"allOf":[{"type":"object","properties":{"p":{"type":"string"}},"required":["p"]},{"properties":{"q":{"type":"integer"}},"required":["q"]}]}`,
	}
	return rapid.Custom(func(t *rapid.T) string {
		kind := 0
		if depth > 0 {
			kind = rapid.IntRange(0, 3).Draw(t, "kind")
		}
		switch kind {
		case 1:
			unique := rapid.SampledFrom([]string{"", `,"minItems":2`, `,"minItems":2,"uniqueItems":true`}).Draw(t, "items")
			of := genSchema(0)
			if strings.Contains(unique, "unique") {
				of = rapid.SampledFrom([]string{`{"type":"string"}`, `{"type":"integer"}`, `{"enum":["x","y","z"]}`})
			}
			return `{"type":"array","items":` + of.Draw(t, "item") + unique + `}`
		case 2, 3:
			return genObjectSchema(depth-1).Draw(t, "object")
		}
		return rapid.SampledFrom(leaves).Draw(t, "leaf")
	})
}

func genObjectSchema(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"city", "days", "list", "to", "filter", "unit"}), 0, 4, rapid.ID).Draw(t, "keys")
		var properties, required []string
		for _, k := range keys {
			properties = append(properties, fmt.Sprintf("%q:%s", k, genSchema(depth).Draw(t, k)))
			if rapid.Bool().Draw(t, "required") {
				required = append(required, fmt.Sprintf("%q", k))
			}
		}
		return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]}`
	})
}

const place = `"$defs":{"place":{"type":"object","properties":{"floor":{"type":"integer"},"room":{"type":"string"}},"required":["floor"]}}`

// The examples of every manifest in every grammar are calls: they parse back as
// written, by their own grammar and among all of them, and they fit the schema.
//
// contract: M-09 N-10 F-05
func TestEveryExampleParsesAndValidates(t *testing.T) {
	all := grammar.All()
	rapid.Check(t, func(t *rapid.T) {
		object := genObjectSchema(2).Draw(t, "schema")
		tool := utp.Tool{Name: "book_table", Schema: json.RawMessage(object[:len(object)-1] + "," + place + "}")}
		basic, advanced := prompt.Examples(tool)
		first := rapid.IntRange(0, 3).Draw(t, "grammars")
		for i := first; i < len(all); i += 4 { // all of them over four draws
			o, err := prompt.OfferOf(all[i], tool)
			if err != nil {
				t.Fatal(err)
			}
			checkExample(t, all[i], tool, o.Basic, basic)
			if (advanced != nil) != (o.Advanced != "") {
				t.Fatalf("%s: an example with optional arguments: %s, printed %q", all[i].Name, advanced, o.Advanced)
			}
			if advanced != nil {
				checkExample(t, all[i], tool, o.Advanced, advanced)
			}
		}
	})
}

func checkExample(t *rapid.T, g *grammar.Grammar, tool utp.Tool, text string, args json.RawMessage) {
	set := schema.Compile([]utp.Tool{tool})
	for _, c := range []parse.Config{{Grammars: []*grammar.Grammar{g}, Tools: set}, {Prefer: []string{g.Name}, Tools: set}} {
		calls := parse.Text(c, text).Calls()
		if len(calls) != 1 || calls[0].Name != tool.Name {
			t.Fatalf("%v: the example %q of %s reads as %+v", c.Prefer, text, tool.Schema, calls)
		}
		if !sameJSON(calls[0].Args, args) {
			t.Fatalf("%v: the example %q reads as %s, want %s", c.Prefer, text, calls[0].Args, args)
		}
		if _, _, issues := set.Check(tool.Name, calls[0].Args); len(issues) > 0 {
			t.Fatalf("%v: the example %q does not fit %s: %v", c.Prefer, text, tool.Schema, issues)
		}
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

var weather = utp.Tool{Name: "get_weather", Description: "Current weather.",
	Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)}

// A tool's own template, or the example of its own schema, goes before what
// the manifest would say; a broken template is an error that names the tool.
//
// contract: M-13
func TestAToolBringsItsOwnText(t *testing.T) {
	for _, g := range grammar.All() {
		w := prompt.Writer{Grammar: g, Custom: map[string]string{"get_weather": "WEATHER {{.Name}}: {{.Description}} {{if .Advanced}}two{{end}}\n{{.Basic}}"}}
		got, err := w.Tools([]utp.Tool{{Name: "now"}, weather})
		if err != nil || strings.Count(got, "WEATHER get_weather: Current weather. two") != 1 || !strings.Contains(got, "now") || strings.Contains(got, `"days"`) {
			t.Errorf("%s: %v in\n%s", g.Name, err, got)
		}
	}
	own := weather
	own.Schema = json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"examples":[{"city":"Bergen"}]}`)
	g, _ := grammar.ByName("autobyteus")
	if got := prompt.Tools(g, []utp.Tool{own}); !strings.Contains(got, `<arg name="city">Bergen</arg>`) {
		t.Errorf("the example of the schema is not used:\n%s", got)
	}
	if err := prompt.CheckTemplate("{{.Name}} {{.Basic}}"); err != nil {
		t.Error(err)
	}
	for _, broken := range []string{"{{.Name", "{{.Nothing}}"} {
		if prompt.CheckTemplate(broken) == nil {
			t.Errorf("%s passes", broken)
		}
		w := prompt.Writer{Grammar: g, Custom: map[string]string{"get_weather": broken}}
		_, err := w.Render(&utp.Request{Tools: []utp.Tool{weather}})
		if err == nil || !strings.Contains(err.Error(), `template of tool "get_weather"`) {
			t.Errorf("%s: %v", broken, err)
		}
	}
}

// contract: M-14
func TestAToolThatCannotBeDescribedLeavesTheOthers(t *testing.T) {
	broken := utp.Tool{Name: "broken", Schema: json.RawMessage(`{"type":`)}
	for _, g := range grammar.All() {
		var warned []string
		w := prompt.Writer{Grammar: g, Warn: func(err error) { warned = append(warned, err.Error()) }}
		got, err := w.Tools([]utp.Tool{broken, weather})
		if err != nil || strings.Contains(got, "broken") || !strings.Contains(got, "get_weather") {
			t.Errorf("%s: %v in\n%s", g.Name, err, got)
		}
		if len(warned) != 1 || !strings.Contains(warned[0], `tool "broken"`) {
			t.Errorf("%s: warned %q", g.Name, warned)
		}
		if got, err := w.Tools([]utp.Tool{broken}); got != "" || err != nil {
			t.Errorf("%s: no tool is left: %v, %q", g.Name, err, got)
		}
	}
}

// The rules of the XML manifest stand once, before the tools, and in no other.
//
// contract: M-03 M-04
func TestTheRuleForLists(t *testing.T) {
	for _, g := range grammar.All() {
		got := prompt.Tools(g, []utp.Tool{weather, {Name: "now"}})
		rule, first := strings.Index(got, "never JSON and never commas"), strings.Index(got, "get_weather")
		switch {
		case g.Manifest != "elements":
			if rule >= 0 {
				t.Errorf("%s: has the rule of XML:\n%s", g.Name, got)
			}
		case rule < 0 || rule > first || strings.Count(got, "never JSON and never commas") != 1:
			t.Errorf("%s: the rule for lists does not stand once before the tools:\n%s", g.Name, got)
		}
		if strings.Contains(got, `\"type\"`) {
			t.Errorf("%s: a schema stands as a string:\n%s", g.Name, got)
		}
	}
}
