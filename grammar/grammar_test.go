package grammar_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

func TestEveryGrammarHoldsItsLaws(t *testing.T) {
	for _, g := range grammar.All() {
		if err := grammar.Check(g); err != nil {
			t.Error(err)
		}
		if g.Source == "" {
			t.Errorf("grammar %s: the source is missing", g.Name)
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for _, g := range grammar.All() {
		b, err := json.Marshal(g)
		if err != nil {
			t.Fatalf("%s: %v", g.Name, err)
		}
		back, err := grammar.Load(b)
		if err != nil {
			t.Fatalf("%s: %v", g.Name, err)
		}
		if d := cmp.Diff(g, back); d != "" {
			t.Errorf("%s: want -, got +\n%s", g.Name, d)
		}
	}
}

// A name is one grammar's. An alias may stand for several that are read
// together, and is then nobody's name.
func TestNames(t *testing.T) {
	names := map[string]bool{}
	for _, g := range grammar.All() {
		key := strings.ToLower(g.Name)
		if names[key] {
			t.Errorf("two grammars are named %s", g.Name)
		}
		names[key] = true
	}
	for _, g := range grammar.All() {
		for i, a := range g.Aliases {
			if names[strings.ToLower(a)] {
				t.Errorf("%s: the alias %s is another grammar's name", g.Name, a)
			}
			if slices.Contains(g.Aliases[:i], a) {
				t.Errorf("%s: the alias %s stands twice", g.Name, a)
			}
		}
	}
}

// Two grammars may not be written alike, unless they are read alike.
func TestNoTwoGrammarsAreWrittenAlike(t *testing.T) {
	alike := map[string]string{"ernie45": "hermes"}
	type written struct {
		Group, Call, Arg, Item grammar.Fence
		Body                   grammar.Body
		Fields                 grammar.Fields
		Header, Quote          string
	}
	seen := map[written]string{}
	for _, g := range grammar.All() {
		w := written{g.Group, g.Call, g.Arg, g.Item, g.Body, g.Fields, g.Header.Open, g.Quote}
		if other, ok := seen[w]; ok && alike[g.Name] != other {
			t.Errorf("%s and %s are written alike", other, g.Name)
		}
		seen[w] = g.Name
	}
}

func TestByName(t *testing.T) {
	for name, want := range map[string]string{
		"hermes": "hermes", "HERMES-JSON": "hermes", "qwen3-coder-xml": "qwen3-coder", "deepseek-dsml-v3.2": "deepseek-v3.2", "qwen25coder-tools-tag": "tools-tag",
	} {
		if g, ok := grammar.ByName(name); !ok || g.Name != want {
			t.Errorf("%s: got %v, %v; want %s", name, g, ok, want)
		}
	}
	if g, ok := grammar.ByName("klingon"); ok {
		t.Errorf("klingon: got %s", g.Name)
	}
}

// The first grammar of a model is the one that prompts are written in.
func TestForModel(t *testing.T) {
	for model, want := range map[string]string{
		"qwen3-coder:30b":                         "qwen3-coder",
		"Qwen/Qwen3-Coder-480B-A35B-Instruct":     "qwen3-coder",
		"qwen3:8b":                                "hermes",
		"Qwen/Qwen3-30B-A3B":                      "hermes",
		"qwen3.5-plus":                            "qwen3-coder",
		"qwen2.5-coder:7b":                        "hermes tools-tag",
		"NousResearch/Hermes-3-Llama-3.1-8B":      "hermes llama3 json-bare",
		"llama3.1:8b":                             "llama3 json-bare",
		"meta-llama/Llama-4-Scout-17B":            "llama3 llama4 pythonic json-bare",
		"deepseek-v3:671b":                        "deepseek-v3",
		"deepseek-v3.1":                           "deepseek-v3.1 name-json",
		"deepseek-ai/DeepSeek-V3.2":               "deepseek-v3.2",
		"deepseek-r1:7b":                          "deepseek-v3",
		"mistral:7b":                              "mistral",
		"mistral-nemo":                            "mistral",
		"mistral-small3.2:24b":                    "mistral-args mistral",
		"devstral":                                "mistral-args mistral name-json",
		"gpt-oss:20b":                             "harmony harmony-bare",
		"openai/gpt-oss-120b":                     "harmony harmony-bare",
		"moonshotai/Kimi-K2-Instruct":             "kimi-k2 kimi-bare",
		"kimi-k3":                                 "kimi-k3",
		"zai-org/GLM-4.6":                         "glm glm-bare",
		"glm-5.3-flash":                           "glm-5.3-flash glm glm-bare",
		"MiniMaxAI/MiniMax-M2":                    "minimax-m2",
		"granite3.1-dense:8b":                     "granite json-bare",
		"granite4:tiny":                           "hermes",
		"ibm-granite/granite-20b-functioncalling": "granite-20b",
		"command-r7b":                             "cohere",
		"CohereLabs/c4ai-command-a-03-2025":       "cohere",
		"command-r-plus:104b":                     "cohere json-fence",
		"phi4-mini":                               "functools",
		"gemma4:31b":                              "gemma4 gemma4-bare",
		"functiongemma":                           "functiongemma",
		"LiquidAI/LFM2-1.2B":                      "lfm2 pythonic",
		"Salesforce/xLAM-2-8b":                    "hermes mistral json-fence json-bare",
		"dolphin-mistral":                         "react-tool",
		"claude-sonnet":                           "anthropic",
		"step3":                                   "step3",
		"stepfun-ai/step-3.5-flash":               "qwen3-coder",
		"tinyllama":                               "",
	} {
		var got []string
		for _, g := range grammar.ForModel(model) {
			got = append(got, g.Name)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: got %q, want %q", model, s, want)
		}
	}
}

func TestSplit(t *testing.T) {
	lit := func(s string) grammar.Piece { return grammar.Piece{Kind: grammar.Literal, Text: s} }
	space := func(s string) grammar.Piece { return grammar.Piece{Kind: grammar.Space, Text: s} }
	slot := func(s string) grammar.Piece { return grammar.Piece{Kind: grammar.Slot, Text: s} }
	attr := func(name, s string) grammar.Piece { return grammar.Piece{Kind: grammar.Attr, Name: name, Text: s} }
	for marker, want := range map[string][]grammar.Piece{
		"":                                 nil,
		"<tool_call>\n":                    {lit("<tool_call>"), space("\n")},
		"<function={name}>":                {lit("<function="), slot("name"), lit(">")},
		`<invoke name="{name}">`:           {lit("<invoke"), space(" "), attr("name", "name"), lit(">")},
		`<p name="{key}" string="{type}">`: {lit("<p"), space(" "), attr("name", "key"), space(" "), attr("string", "type"), lit(">")},
		"{name}\n":                         {slot("name"), space("\n")},
		"<tool_calls{sfx}>":                {lit("<tool_calls"), slot("sfx"), lit(">")},
		"name:{value:<escape>":             {lit("name:{value:<escape>")},
		"[TOOL_CALLS] {id} [ARGS]":         {lit("[TOOL_CALLS]"), space(" "), slot("id"), space(" "), lit("[ARGS]")},
		"</｜DSML｜ invoke>\n":               {lit("</｜DSML｜"), space(" "), lit("invoke>"), space("\n")},
	} {
		got, err := grammar.Split(marker)
		if err != nil {
			t.Errorf("%q: %v", marker, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: want -, got +\n%s", marker, d)
		}
	}
	if _, err := grammar.Split("<call {nmae}>"); err == nil || !strings.Contains(err.Error(), "{nmae}") {
		t.Errorf("an unknown slot: got %v", err)
	}
}

func TestCheck(t *testing.T) {
	for want, g := range map[string]grammar.Grammar{
		"the name is missing":     {Body: grammar.JSON},
		`body ""`:                 {Name: "x"},
		"needs {name}":            {Name: "x", Body: grammar.Args, Call: grammar.Fence{Open: "<c>"}},
		"must not hold {name}":    {Name: "x", Body: grammar.JSON, Call: grammar.Fence{Open: "<{name}>"}},
		"belong together":         {Name: "x", Body: grammar.Tagged, Call: grammar.Fence{Open: "<{name}>"}},
		"that call.open lacks":    {Name: "x", Body: grammar.JSON, Call: grammar.Fence{Open: "<c>", Close: "</{name}>"}},
		"no marker of the record": {Name: "x", Body: grammar.JSON, Also: map[string][]string{"call.opener": {"<c>"}}},
		"unknown slot {nmae}":     {Name: "x", Body: grammar.JSON, Also: map[string][]string{"call.open": {"<{nmae}>"}}},
		"no kind of message":      {Name: "x", Body: grammar.JSON, Routes: []grammar.Route{{As: "shout"}}},
	} {
		if err := grammar.Check(&g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestLoadRefusesUnknownFields(t *testing.T) {
	if _, err := grammar.Load([]byte(`{"name":"x","body":"json","hook":"y"}`)); err == nil || !strings.Contains(err.Error(), "hook") {
		t.Errorf("got %v, want an error that names the field", err)
	}
}

// Every grammar id of the conformance rows is a name or an alias.
func TestConformanceIDs(t *testing.T) {
	files, _ := filepath.Glob("../../shared/conformance/*.jsonl")
	if len(files) == 0 {
		t.Skip("../shared/conformance: not present")
	}
	known := map[string]bool{}
	for _, g := range grammar.All() {
		for _, name := range append([]string{g.Name}, g.Aliases...) {
			known[name] = true
		}
	}
	for _, file := range files {
		for _, id := range ids(t, file) {
			if !known[id] {
				t.Errorf("%s: no grammar has the name or alias %s", filepath.Base(file), id)
			}
		}
	}
}

func ids(t *testing.T, file string) (out []string) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewReader(f); ; {
		line, err := s.ReadBytes('\n')
		var row struct{ Grammar string }
		if len(line) > 0 && json.Unmarshal(line, &row) == nil && !slices.Contains(out, row.Grammar) {
			out = append(out, row.Grammar)
		}
		if err != nil {
			return out
		}
	}
}
