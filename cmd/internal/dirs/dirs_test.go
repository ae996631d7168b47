package dirs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
)

func ExampleRoot() {
	root, ok := dirs.Root(string(filepath.Separator))
	fmt.Println(root == string(filepath.Separator), ok)
	// Output: true false
}

func TestRootIsTheNearestMark(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "a", "b", "c")
	for _, dir := range []string{deep, filepath.Join(top, ".git"), filepath.Join(top, "a", "bx.toml")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for wd, want := range map[string]string{deep: filepath.Join(top, "a"), filepath.Join(top, "a"): filepath.Join(top, "a"), top: top} {
		if root, ok := dirs.Root(wd); root != want || !ok {
			t.Errorf("Root(%s) = %s, %v, want %s", wd, root, ok, want)
		}
	}
}
