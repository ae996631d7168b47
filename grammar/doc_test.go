package grammar_test

import (
	"os"
	"strings"
	"testing"
)

// docs/add-a-grammar.md shows files of this folder as they are.
func TestAddAGrammar(t *testing.T) {
	read := func(file string) string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	doc := read("../docs/add-a-grammar.md")
	for _, file := range []string{"solaropen.go", "testdata/solar-open/parallel.txtar"} {
		if text := read(file); !strings.Contains(doc, text) {
			t.Errorf("docs/add-a-grammar.md does not show %s as it is:\n%s", file, text)
		}
	}
	const line = "&solar, &solarOpen,"
	if !strings.Contains(doc, line) || !strings.Contains(read("all.go"), line) {
		t.Errorf("docs/add-a-grammar.md and all.go do not have the same line %q", line)
	}
}
