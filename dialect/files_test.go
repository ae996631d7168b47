package dialect_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/dialect"
)

// Dialects come from files in their order; a file that is none is named.
func TestFiles(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := write("one.json", `{"name":"one","call":{"open":"«call {name}»","close":"«end»"},"body":"args"}`)
	two := write("two.json", `{"name":"two","call":{"open":"<go {name}>","close":"</go>"},"body":"args"}`)
	list, err := dialect.Files(two, one)
	if err != nil || len(list) != 2 || list[0].Name != "two" || list[1].Name != "one" {
		t.Fatal(list, err)
	}
	bad := write("bad.json", `{"name":"bad"}`)
	for _, path := range []string{bad, bad + ".gone"} {
		if list, err := dialect.Files(one, path); err == nil || list != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", path, list, err)
		}
	}
}
