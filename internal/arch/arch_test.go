package arch_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/arch"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// The house keeps its laws.
//
// contract: T-09 T-13 X-15
func TestLaws(t *testing.T) {
	h, err := arch.Load("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, law := range arch.Laws() {
		t.Run(law.Name, func(t *testing.T) {
			broken := law.Check(h)
			for _, f := range broken {
				t.Error(f)
			}
			if len(broken) > 0 {
				t.Log(law.Rule)
			}
		})
	}
}

// Each law finds what breaks it and lets the rest pass: testdata/LAW/*.txtar.
func TestCases(t *testing.T) {
	for _, law := range arch.Laws() {
		golden.Run(t, filepath.Join("testdata", law.Name, "*.txtar"), func(t *testing.T, c *golden.Case) {
			sources := map[string]string{}
			for _, name := range c.Names() {
				if name != "findings" {
					sources[name] = c.Get(name)
				}
			}
			h, err := arch.Parse("example.com/m", sources)
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, f := range law.Check(h) {
				got.WriteString(f.String() + "\n")
			}
			c.Want(t, "findings", got.String())
			if got.Len() == 0 && !strings.HasPrefix(filepath.Base(c.Path), "fine") {
				t.Errorf("a case that breaks nothing is named fine*.txtar")
			}
		})
	}
}

func TestFileLength(t *testing.T) {
	long := "package m\n" + strings.Repeat("\n", 600)
	for name, source := range map[string]string{"600": long[:600+len("package m")], "601": long, "parse/400": long[:400+len("package m")], "parse/401": long[:401+len("package m")], "table": "//arch:table of names\n\n" + long} {
		h, err := arch.Parse("example.com/m", map[string]string{name + "/a.go": source})
		if err != nil {
			t.Fatal(err)
		}
		for _, law := range arch.Laws() {
			if law.Name != "file-length" {
				continue
			}
			if got := len(law.Check(h)) > 0; got != strings.HasSuffix(name, "01") {
				t.Errorf("%s: found %v", name, law.Check(h))
			}
		}
	}
}

func TestLoadFails(t *testing.T) {
	if _, err := arch.Load(t.TempDir()); err == nil {
		t.Error("a folder without a module loads")
	}
}

func TestRoomsAreListedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range arch.Rooms() {
		if seen[r.Path] {
			t.Errorf("%s has two lines", r.Path)
		}
		seen[r.Path] = true
		if _, err := os.Stat(filepath.Join("..", "..", r.Path)); err != nil {
			t.Logf("%s is not built yet", r.Path)
		}
	}
	for _, r := range arch.Rooms() {
		for _, other := range r.Beside {
			if !seen[other] {
				t.Errorf("%s may import %s, which has no line", r.Path, other)
			}
		}
	}
}

// A grammar is data: what is written to JSON reads back as the same record.
func TestGrammarsSurviveJSON(t *testing.T) {
	for _, g := range grammar.All() {
		b, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		back, err := grammar.Load(b)
		if err != nil {
			t.Errorf("%s: %v\n%s", g.Name, err, b)
			continue
		}
		if d := cmp.Diff(g, back, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", g.Name, d)
		}
	}
}

func TestBudgets(t *testing.T) {
	h, err := arch.Parse("example.com/m", map[string]string{
		"utp.go":           "package utp\n\ntype Call struct {\n\tName string\n}\n\nvar Native = 1\n",
		"wire/x/x.go":      "package x\n\nimport _ \"example.com/m\"\n\ntype Front struct {\n\tID string\n}\n\nfunc (Front) Read() {\n}\n",
		"wire/x/back.go":   "package x\n\ntype Back struct{}\n\nfunc (Back) Open() { shared() }\n",
		"wire/x/shared.go": "package x\n\nfunc shared() {}\n",
		"wire/x/x_test.go": "package x\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"lines of a function, median":                      "1",
		"lines of a file, longest (tables aside)":          "10 (wire/x/x.go)",
		"test lines per product line, goldens counted":     "0.04",
		"exported names of a package, most":                "2 (.)",
		"imports in a chain, longest":                      "1 (wire/x → .)",
		"lines of wire/x.Front without its structs":        "7",
		"lines of wire/x.Back without its structs":         "7",
		"packages without a comment or a runnable Example": "4",
	}
	for _, b := range h.Budgets() {
		if w, ok := want[b.Name]; ok && w != b.Got {
			t.Errorf("%s = %s, want %s", b.Name, b.Got, w)
		}
		delete(want, b.Name)
	}
	if len(want) > 0 {
		t.Errorf("not measured: %v", want)
	}
}

func TestFuzzTargets(t *testing.T) {
	h, err := arch.Parse("example.com/m", map[string]string{
		"parse/parse.go":      "package parse\n\nfunc FuzzNot() {}\n",
		"parse/parse_test.go": "package parse_test\n\nfunc FuzzText() {}\n\nfunc TestText() {}\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.FuzzTargets(); len(got) != 1 || got[0] != (arch.Target{Package: "parse", Func: "FuzzText"}) {
		t.Errorf("targets = %v", got)
	}
}
