package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "doc.md")
	text := "Head.\n<!-- generated: list -->\nold\n<!-- end -->\nFoot.\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	golden.File(t, path, text)
	golden.Between(t, path, "list", "old\n")
	for name, check := range map[string]func(testing.TB){
		"other text":   func(t testing.TB) { golden.File(t, path, "other") },
		"other part":   func(t testing.TB) { golden.Between(t, path, "list", "new\n") },
		"no such part": func(t testing.TB) { golden.Between(t, path, "table", "new\n") },
		"no file":      func(t testing.TB) { golden.File(t, path+".none", "") },
	} {
		r := &recorder{TB: t}
		if check(r); len(r.log) == 0 {
			t.Errorf("%s passes", name)
		}
	}
	defer golden.SetUpdate(true)()
	golden.Between(t, path, "list", "new\n")
	b, err := os.ReadFile(path)
	if want := strings.Replace(text, "old", "new", 1); err != nil || string(b) != want {
		t.Errorf("%s %v, want %s", b, err, want)
	}
}
