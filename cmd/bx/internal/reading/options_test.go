package reading_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

func compiled(tools []utp.Tool) *schema.Set { return schema.Compile(tools) }

func TestParseTools(t *testing.T) {
	yes := true
	params := json.RawMessage(`{"type": "object"}`)
	plain := []utp.Tool{{Name: "f", Description: "d", Schema: params}}
	for in, want := range map[string][]utp.Tool{
		`[{"type":"function","function":{"name":"f","description":"d","parameters":{"type": "object"}}}]`: plain,
		`[{"name":"f","description":"d","input_schema":{"type": "object"}}]`:                              plain,
		`[{"name":"f","description":"d","inputSchema":{"type": "object"}}]`:                               plain,
		` [{"name":"f","description":"d","parameters":{"type": "object"},"tier":"WALK"}] `:                plain,
		`[{"type":"function","name":"f","description":"d","parameters":{"type": "object"}}]`:              plain,
		`{"tools":[{"name":"f","description":"d","parameters":{"type": "object"}}]}`:                      plain,
		`{"name":"f","description":"d","parameters":{"type": "object"}}`:                                  plain,
		`[{"type":"custom","name":"f","input_schema":{"type": "object"},"description":"d"}]`:              plain,
		`[{"name":"f"},{"name":"f","description":"d"}]`:                                                   {{Name: "f"}, {Name: "f", Description: "d"}},
		`[]`:   nil,
		`null`: nil,
		`[{"name":"f"},{"name":"g","parameters":null}]`:                               {{Name: "f"}, {Name: "g"}},
		`[{"type":"function","function":{"name":"f","strict":true}}]`:                 {{Name: "f", Strict: &yes}},
		`[{"type":"custom","name":"f"},{"type":"custom","custom":{"name":"g"}}]`:      {{Name: "f", Kind: utp.CustomTool}, {Name: "g", Kind: utp.CustomTool}},
		`[{"name":"f","parameters":{"type":"object","properties":{"x":{"type":1}}}}]`: {{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":1}}}`)}},
	} {
		got, err := reading.ParseTools([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", in, d)
		}
	}
}

func TestParseToolsFails(t *testing.T) {
	for in, want := range map[string]string{
		"[\n{]":                          "tools: line 2: invalid character",
		``:                               "tools: line 1: unexpected end",
		`"f"`:                            `tools: want a list of tools, have "f"`,
		`{"tools":{}}`:                   "tools: want a list of tools, have {}",
		`["f"]`:                          `tools[0]: want {"type":"function"`,
		`[{"name":"f"},null]`:            "tools[1]: want {",
		`[{"name":"f"},{"x":1}]`:         "tools[1]: the name is missing",
		`[{"name":7}]`:                   "tools[0]: want {",
		`[{"name":"f","parameters":[]}]`: "tools[0]: f: the parameters: want a JSON Schema, an object, have []",
		`[{"name":"f","input_schema":"` + strings.Repeat("ä", 99) + `"}]`: "äää…",
	} {
		if _, err := reading.ParseTools([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", in, err, want)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	for in, want := range map[string]reading.Policy{
		"":                              {},
		"unknown=keep, malformed=keep,": {},
		"unknown=flag,malformed=strip":  {Unknown: reading.Flag, Malformed: reading.Strip},
		"unknown=text":                  {Unknown: reading.AsText},
		"malformed=error":               {Malformed: reading.Fail},
		"repair=off,shown=run":          {Repair: parse.Off, Shown: true},
		"repeated=run":                  {Repeated: true},
		"repair=off,repair=safe":        {},
		"repair=aggressive":             {Repair: parse.Aggressive},
	} {
		if got, err := reading.ParsePolicy(in); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for in, want := range map[string]string{
		"unknown=drop":  "unknown=drop: want unknown=keep|text|flag",
		"repair":        "repair: want repair=safe|off|aggressive",
		"unknwon=keep":  "unknwon=keep: want settings of unknown=keep|text|flag, malformed=keep|strip|error, repair=safe|off|aggressive, empty=keep|drop, shown=text|run, repeated=text|run",
		"=,unknown=bad": "=: want settings",
	} {
		if _, err := reading.ParsePolicy(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestParseDialects(t *testing.T) {
	names := func(list []*grammar.Grammar) (out []string) {
		for _, g := range list {
			out = append(out, g.Name)
		}
		return out
	}
	for in, want := range map[string]struct{ only, prefer []string }{
		"":                    {},
		"auto":                {},
		"Hermes":              {only: []string{"hermes"}},
		"hermes, qwen3-coder": {only: []string{"hermes", "qwen3-coder"}},
		"prefer:hermes":       {prefer: []string{"hermes"}},
	} {
		d, err := reading.ParseDialects(in, nil)
		if err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if d := cmp.Diff([][]string{want.only, want.prefer}, [][]string{names(d.Grammars), d.Prefer}); d != "" {
			t.Errorf("%s: %s", in, d)
		}
	}
	_, err := reading.ParseDialects("hermès", nil)
	var unknown *reading.UnknownGrammar
	if !errors.As(err, &unknown) || unknown.Name != "hermès" {
		t.Error(err)
	}
	_, err = reading.ParseDialects("qwen-3-coder", nil)
	if err == nil || !strings.Contains(err.Error(), `did you mean qwen3-coder? "bx grammar list"`) {
		t.Error(err)
	}
	for name, near := range map[string]int{"e": 0, "qwen3": 1, "deepseek": 5, "my-hermes-tuned": 1, "prefer:": 0} {
		if _, err = reading.ParseDialects(name, nil); !errors.As(err, &unknown) || len(unknown.Near) < min(near, 1) || len(unknown.Near) > max(5*min(near, 1), 0) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.json")
	if _, err := reading.ParseDialects(file, dialect.Try); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for text, want := range map[string]string{
		`{"name":"mine","call":{"open":"<run {name}>","close":"</run>"},"body":"args"}`: "",
		`{"name":"mine","boddy":"args"}`:                                                `mine.json: grammar: line 1: unknown field "boddy"`,
		`{"name":"mine","body":"args"}`:                                                 "mine.json: grammar mine: line 1: body args needs {name}",
	} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := reading.ParseDialects(file, dialect.Try)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
