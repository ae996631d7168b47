package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// A tool is one entry: with it, the tool is offered, told in the prompt, called
// as the prompt says, and run.
//
// contract: M-11 W-13
func TestAToolIsOneEntry(t *testing.T) {
	builtins = append(slices.Clone(builtins), builtin{
		Tool: utp.Tool{Name: "weigh", Description: "Weighs a thing.", Schema: json.RawMessage(`{"type":"object","properties":{"thing":{"type":"string"}},"required":["thing"]}`)},
		run: with(func(_ *Set, _ context.Context, a struct{ Thing string }) (string, error) {
			return a.Thing + ": 3 kg", nil
		}),
	})
	defer func() { builtins = builtins[:len(builtins)-1] }()
	s := open(t, Config{Root: t.TempDir()})
	hermes, _ := grammar.ByName("hermes")
	told := prompt.Tools(hermes, s.Tools())
	if !strings.Contains(told, "Weighs a thing.") || !strings.Contains(told, `"name": "search_code"`) {
		t.Fatalf("told %s", told)
	}
	text, err := prompt.Call(hermes, utp.Call{Name: "weigh", Args: json.RawMessage(`{"thing":"a walrus"}`)})
	if err != nil {
		t.Fatal(err)
	}
	calls := parse.Text(parse.Config{Tools: schema.Compile(s.Tools())}, text).Calls()
	if len(calls) != 1 {
		t.Fatalf("%s is read as %+v", text, calls)
	}
	if r := s.Run(t.Context(), calls[0]); r.Status != utp.StatusOK || r.Text() != "a walrus: 3 kg" {
		t.Errorf("%+v", r)
	}
}

// What a tool says of itself is read with each request, so that it may change;
// its schema is one text for good.
//
// contract: M-10
func TestADescriptionThatChangesIsReadAgain(t *testing.T) {
	before := builtins
	builtins = slices.Clone(builtins)
	defer func() { builtins = before }()
	s := open(t, Config{Root: t.TempDir()})
	told := func() string {
		hermes, _ := grammar.ByName("hermes")
		return prompt.Tools(hermes, s.Tools())
	}
	first := told()
	builtins[0].Description = "Looks for walruses."
	if second := told(); strings.Contains(first, "walruses") || !strings.Contains(second, "Looks for walruses.") {
		t.Errorf("told %s", second)
	}
	if a, b := s.Tools()[0].Schema, s.Tools()[0].Schema; string(a) != string(b) || &a[0] == &b[0] {
		t.Error("a caller that changes a schema changes it for others")
	}
}
