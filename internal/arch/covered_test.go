package arch_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/arch"
	"github.com/unifiedtoolprotocol/utp/internal/contract"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// What reads the words of strangers is fuzzed.
//
// contract: Q-03
func TestReadersAreFuzzed(t *testing.T) {
	h, err := arch.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	var fuzzed []string
	for _, target := range h.FuzzTargets() {
		fuzzed = append(fuzzed, target.Package)
	}
	for _, reader := range []string{"lenient", "parse", "schema", "te", "wire"} {
		if !slices.Contains(fuzzed, reader) {
			t.Errorf("%s has no fuzz target", reader)
		}
	}
}

// Every grammar and every codec has known inputs, both ways.
//
// contract: Q-04 CON-34
func TestEveryFormatHasKnownInputs(t *testing.T) {
	for _, g := range grammar.All() {
		files, _ := filepath.Glob("../../grammar/testdata/" + g.Name + "/*.txtar")
		if !slices.ContainsFunc(files, func(file string) bool {
			c, err := golden.Read(file)
			return err == nil && strings.Contains("\n"+c.Get("events"), "\ncall ")
		}) {
			t.Errorf("grammar %s: no case in grammar/testdata/%s reads a call", g.Name, g.Name)
		}
		if _, err := os.Stat("../../prompt/testdata/calls/" + g.Name + ".txtar"); err != nil {
			t.Errorf("grammar %s: no case writes a call: %v", g.Name, err)
		}
	}
	for _, codec := range []string{"anthropic", "gemini", "ollama", "openai", "responses"} {
		for _, way := range []string{"request", "reply"} {
			if files, _ := filepath.Glob("../../wire/testdata/*/" + codec + "." + way + ".json"); len(files) < 5 {
				t.Errorf("codec %s: %d known inputs of a %s, want at least 5", codec, len(files), way)
			}
		}
	}
}

// Every acceptance scenario is a script of its name.
//
// contract: Q-07
func TestEveryScenarioIsAScript(t *testing.T) {
	page, err := os.ReadFile("../../docs/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := contract.Rows(string(page))
	if err != nil {
		t.Fatal(err)
	}
	carriers, err := contract.Collect(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	scenarios := 0
	for _, r := range rows {
		if r.Group != "Acceptance scenarios" {
			continue
		}
		scenarios++
		if !slices.ContainsFunc(carriers, func(c contract.Carrier) bool {
			return strings.HasPrefix(c.Case, "script/uat_") && slices.Contains(c.IDs, r.ID)
		}) {
			t.Errorf("%s has no script uat_*.txtar: %s", r.ID, r.Text)
		}
	}
	if scenarios < 12 {
		t.Errorf("%d scenarios, want at least the 12 of the page", scenarios)
	}
}
