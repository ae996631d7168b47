package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

// TestDialects keeps the list of docs/dialects.md as the records are.
func TestDialects(t *testing.T) {
	var b strings.Builder
	for _, g := range grammar.All() {
		describe(t, &b, g)
	}
	golden.Between(t, "../docs/dialects.md", "dialects", b.String())
}

func describe(t *testing.T, b *strings.Builder, g *grammar.Grammar) {
	t.Helper()
	fmt.Fprintf(b, "\n## %s\n\n", g.Name)
	line := func(name string, values ...string) {
		if text := strings.Join(values, "`, `"); text != "" {
			fmt.Fprintf(b, "- %s: `%s`\n", name, text)
		}
	}
	line("models", g.Models...)
	line("also called", g.Aliases...)
	fmt.Fprintf(b, "- source: %s\n", g.Source)
	if g.Think.Open != "" {
		fmt.Fprintf(b, "- reasoning: `%s` … `%s`\n", strings.TrimSpace(g.Think.Open), strings.TrimSpace(g.Think.Close))
	}
	fmt.Fprintf(b, "\n~~~~\n%s\n~~~~\n", strings.TrimSuffix(example(t, g), "\n"))
}

// example is what the dialect can say of two calls.
func example(t *testing.T, g *grammar.Grammar) string {
	t.Helper()
	calls := []utp.Call{
		{ID: "call_1", Name: "get_weather", Args: json.RawMessage(`{"city":"Oslo","days":3}`)},
		{ID: "call_2", Name: "get_weather", Args: json.RawMessage(`{"city":"Bergen"}`)},
	}
	both, err := prompt.Calls(g, calls)
	if err == nil {
		return both
	}
	one, err := prompt.Calls(g, calls[:1])
	if err != nil {
		t.Errorf("%s cannot write a call: %v", g.Name, err)
	}
	return one
}
