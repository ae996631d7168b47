package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// contract: M-08 M-09
func TestExamples(t *testing.T) {
	for _, c := range []struct{ schema, basic, advanced string }{
		{`{"type":"object","properties":{}}`, `{}`, ``},
		{``, `{}`, ``},
		{`{"properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":"example_a"}`, ``},
		{`{"properties":{"a":{"type":"string","description":"A city, e.g. 'Oslo'."},"b":{"type":"boolean"}},"required":["a"]}`, `{"a":"Oslo"}`, `{"a":"Oslo","b":true}`},
		{`{"properties":{"a":{"default":7,"type":"integer"},"b":{"enum":["x","y"]},"c":{"const":null},"d":{"examples":[[1]]}},"required":["a","b","c","d"]}`, `{"a":7,"b":"x","c":null,"d":[1]}`, ``},
		{`{"properties":{"n":{"type":"integer","minimum":500},"x":{"type":"number","maximum":1.5},"s":{"type":"string","minLength":12,"maxLength":14}},"required":["n","x","s"]}`, `{"n":500,"x":1.5,"s":"example_sxxx"}`, ``},
		{`{"properties":{"o":{"type":"object","properties":{"p":{"type":"integer"},"q":{"type":"integer"}},"required":["p"]}},"required":["o"]}`, `{"o":{"p":123}}`, `{"o":{"p":123,"q":123}}`},
		{`{"properties":{"l":{"type":"array","items":{"type":["null","string"]},"minItems":2}},"required":["l"]}`, `{"l":["example_l","example_l"]}`, ``},
		{`{"properties":{"r":{"$ref":"#/$defs/x"}},"required":["r"],"$defs":{"x":{"anyOf":[{"type":"boolean"},{"type":"null"}]}}}`, `{"r":true}`, ``},
	} {
		tool := utp.Tool{Name: "f", Schema: json.RawMessage(c.schema)}
		basic, advanced := prompt.Examples(tool)
		if string(basic) != c.basic || string(advanced) != c.advanced {
			t.Errorf("%s:\ngot  %s, %s\nwant %s, %s", c.schema, basic, advanced, c.basic, c.advanced)
		}
		for _, args := range []json.RawMessage{basic, advanced} {
			if _, _, issues := schema.Compile([]utp.Tool{tool}).Check("f", args); args != nil && len(issues) > 0 {
				t.Errorf("%s: the example %s does not validate: %v", c.schema, args, issues)
			}
		}
	}
}

// A schema that refers to itself has an end.
func TestExampleOfARecursiveSchema(t *testing.T) {
	tool := utp.Tool{Name: "f", Schema: json.RawMessage(`{"properties":{"n":{"$ref":"#"}},"required":["n"]}`)}
	basic, _ := prompt.Examples(tool)
	if !json.Valid(basic) || len(basic) > 1000 {
		t.Errorf("got %s", basic)
	}
	loop := utp.Tool{Name: "f", Schema: json.RawMessage(`{"properties":{"n":{"$ref":"#/$defs/a"}},"required":["n"],"$defs":{"a":{"$ref":"#/$defs/a"}}}`)}
	if basic, _ = prompt.Examples(loop); !json.Valid(basic) {
		t.Errorf("got %s", basic)
	}
}

// contract: M-09
//
// The examples of a manifest are calls: they parse, and they fit the schema.
func TestExamplesParse(t *testing.T) {
	tool := utp.Tool{Name: "book", Schema: json.RawMessage(`{"type":"object","properties":{
		"city":{"type":"string","description":"e.g. \"Oslo\""},"guests":{"type":"array","items":{"type":"string"}},"price":{"type":"number"},
		"place":{"type":"object","properties":{"floor":{"type":"integer"}},"required":["floor"]},"kind":{"enum":["a","b"]}},"required":["city","guests"]}`)}
	set := schema.Compile([]utp.Tool{tool})
	basic, advanced := prompt.Examples(tool)
	for _, g := range grammar.All() {
		for _, args := range []json.RawMessage{basic, advanced} {
			text, err := prompt.Call(g, utp.Call{Name: tool.Name, Args: args})
			if err != nil {
				t.Errorf("%s: %v", g.Name, err)
				continue
			}
			text = strings.TrimPrefix(text, g.Prefill)
			calls := parse.Text(parse.Config{Grammars: []*grammar.Grammar{g}, Tools: set}, text).Calls()
			if len(calls) != 1 || string(calls[0].Args) != string(args) {
				t.Errorf("%s: %s\ngot %+v\nwant %s", g.Name, text, calls, args)
				continue
			}
			if _, _, issues := set.Check(tool.Name, calls[0].Args); len(issues) > 0 {
				t.Errorf("%s: %s does not validate: %v", g.Name, calls[0].Args, issues)
			}
		}
	}
}
