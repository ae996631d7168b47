package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

func TestRun(t *testing.T) {
	n := 0
	golden.Run(t, "testdata/*/*.txtar", func(t *testing.T, c *golden.Case) {
		n++
		if t.Name() != "TestRun/upper/crlf" {
			t.Errorf("subtest is named %q", t.Name())
		}
		c.Want(t, "out", strings.ToUpper(c.Get("in")))
	})
	if n != 1 {
		t.Errorf("%d cases ran, want 1", n)
	}
}

func TestCase(t *testing.T) {
	c, err := golden.Read("testdata/upper/crlf.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Get("in"); got != "one\r\ntwo\n" {
		t.Errorf("in = %q: want all but the final newline", got)
	}
	if got := c.Contract(); !slices.Equal(got, []string{"Q-03", "Q-04"}) {
		t.Errorf("contract ids = %q", got)
	}
	if !slices.Equal(c.Names(), []string{"in", "out", "note"}) || !c.Has("note") || c.Has("nothing") || c.Get("nothing") != "" {
		t.Errorf("sections = %q", c.Names())
	}
	if !strings.HasPrefix(c.Comment, "A line ends") {
		t.Errorf("comment = %q", c.Comment)
	}
}

// recorder stands for a test that is expected to fail.
type recorder struct {
	testing.TB
	log []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(f string, a ...any) { r.log = append(r.log, fmt.Sprintf(f, a...)) }

func copyOf(t *testing.T, text string) *golden.Case {
	t.Helper()
	file := filepath.Join(t.TempDir(), "case.txtar")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := golden.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const original = "About.\n-- in --\nx\n-- out --\nold\n-- more --\nm\n"

func TestWantFails(t *testing.T) {
	defer golden.SetUpdate(false)()
	c := copyOf(t, original)
	r := &recorder{TB: t}
	c.Want(r, "out", "old\n")
	c.Want(r, "out", "old")
	if len(r.log) != 0 {
		t.Errorf("equal text failed: %q", r.log)
	}
	c.Want(r, "out", "new")
	c.Want(r, "gone", "g")
	if len(r.log) != 2 || !strings.Contains(r.log[0], "-old\n+new") || !strings.Contains(r.log[1], `"gone" is missing`) {
		t.Errorf("log = %q", r.log)
	}
}

func TestUpdate(t *testing.T) {
	defer golden.SetUpdate(true)()
	c := copyOf(t, original)
	r := &recorder{TB: t}
	c.Want(r, "out", "new\nlines\n")
	c.Want(r, "added", "")
	b, err := os.ReadFile(c.Path)
	if want := "About.\n-- in --\nx\n-- out --\nnew\nlines\n-- more --\nm\n-- added --\n"; err != nil || string(b) != want || r.log != nil {
		t.Errorf("file = %q (%v, %q)\nwant   %q", b, err, r.log, want)
	}
	c.Want(r, "out", "a\n-- b --\nc")
	if after, _ := os.ReadFile(c.Path); len(r.log) != 1 || string(after) != string(b) {
		t.Errorf("a text with a section line was written: %q, %q", after, r.log)
	}
}
