package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// File compares got with a file. With -update it writes the file.
func File(t testing.TB, path, got string) {
	t.Helper()
	b, err := os.ReadFile(path)
	switch {
	case err == nil && string(b) == got:
	case *update:
		if err := write(path, got); err != nil {
			t.Error(err)
		}
	case err != nil:
		t.Errorf("%v (go test -update writes it)", err)
	default:
		t.Errorf("%s: %s(go test -update writes it)", path, diff.Diff("want", b, "got", []byte(got)))
	}
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// Between compares got with the part of a file between the lines
// "<!-- generated: NAME -->" and "<!-- end -->". With -update it writes that part.
func Between(t testing.TB, path, name, got string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	open := "<!-- generated: " + name + " -->\n"
	before, rest, ok := strings.Cut(string(b), open)
	_, after, ends := strings.Cut(rest, "<!-- end -->")
	if !ok || !ends {
		t.Errorf("%s: want a line %q and below it a line \"<!-- end -->\"", path, strings.TrimSpace(open))
		return
	}
	File(t, path, before+open+got+"<!-- end -->"+after)
}
