package tool

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/store/handle"
	"github.com/unifiedtoolprotocol/utp/te"
)

// contract: A-17 TE-08
func TestWhatIsCutCanBeReadByItsHandle(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		write(t, dir, fmt.Sprintf("files/some-rather-long-name-%d.go", i), fmt.Sprintf("package files\n\nfunc Wanted%d() {}\n", i))
	}
	kept := handle.Open(filepath.Join(t.TempDir(), "results"), time.Now)
	s := open(t, Config{Root: dir, MaxResult: 3000, Results: kept})
	for _, c := range []struct {
		name, args, each string
		all              int
	}{
		{"grep", `{"pattern":"func Wanted"}`, "func Wanted", 300},
		{"glob", `{"pattern":"*.go"}`, "some-rather-long-name-", 300},
		{"search_code", `{"query":"Wanted7"}`, ":3: func Wanted", 11},
	} {
		r := run(s, c.name, c.args)
		if len(r.Text()) > 3000 {
			t.Errorf("%s: %d bytes, want at most 3000", c.name, len(r.Text()))
		}
		id := handleOf(t, r.Text())
		whole, n := "", 1
		for ; strings.Contains(whole, fmt.Sprintf("[...chunk=%d reads on...]", n)) || n == 1; n++ {
			if n > 1 {
				whole = strings.TrimSuffix(whole, fmt.Sprintf("[...chunk=%d reads on...]", n))
			}
			piece := run(s, "read_result", fmt.Sprintf(`{"handle":%q,"chunk":%d}`, id, n))
			if len(piece.Text()) > 3000 || piece.Status != utp.StatusOK {
				t.Fatalf("%s, chunk %d: %d bytes, %v", c.name, n, len(piece.Text()), piece.Status)
			}
			_, text, _ := strings.Cut(piece.Text(), "\n")
			whole += text
		}
		if got := strings.Count(whole, c.each); got < c.all {
			t.Errorf("%s: %d of %q in %d chunks, want at least %d", c.name, got, c.each, n, c.all)
		}
	}
	id := handleOf(t, run(s, "glob", `{"pattern":"*.go"}`).Text())
	lines := run(s, "read_result", fmt.Sprintf(`{"handle":%q,"lines":"2-3"}`, id)).Text()
	if want := id + ": lines 2-3 of 301\nfiles/some-rather-long-name-0.go  "; !strings.HasPrefix(lines, want) || strings.Count(lines, "\n") != 2 {
		t.Errorf("lines 2-3: %s, want %s… and one line more", lines, want)
	}
	for args, want := range map[string]string{
		`{}`: "missing argument 'handle'", `{"handle":"res_000000000000"}`: "no such result, or it was removed", `{"handle":"../x"}`: "no such result",
		fmt.Sprintf(`{"handle":%q,"chunk":999}`, id): "chunk 999: the result has ", fmt.Sprintf(`{"handle":%q,"lines":"9-3"}`, id): "the result has lines 1-301",
		fmt.Sprintf(`{"handle":%q,"lines":"all"}`, id): "want lines such as 120-180",
	} {
		if r := run(s, "read_result", args); r.Status != utp.StatusFailed || !strings.Contains(r.Text(), want) {
			t.Errorf("read_result %s: %s, want %s", args, r.Text(), want)
		}
	}
	// Another process has it, another root has not.
	again := open(t, Config{Root: dir, Results: handle.Open(filepath.Join(filepath.Dir(dir), "none"), time.Now)})
	if r := run(again, "read_result", fmt.Sprintf(`{"handle":%q}`, id)); r.Status != utp.StatusFailed {
		t.Errorf("another store: %s", r.Text())
	}
	below := open(t, Config{Root: filepath.Join(dir, "files"), Results: kept})
	if r := run(below, "read_result", fmt.Sprintf(`{"handle":%q}`, id)); r.Status != utp.StatusFailed || strings.Contains(r.Text(), "some-rather") {
		t.Errorf("a narrower root: %s", r.Text())
	}
}

func handleOf(t *testing.T, text string) string {
	t.Helper()
	head, _, ok := strings.Cut(text, "\n# TE_END_META\n")
	if !ok {
		t.Fatalf("no envelope: %s", text)
	}
	e, err := te.Parse(head + "\n# TE_END_META\n\n")
	if err != nil || !e.Meta.Truncated || e.Meta.Handle == "" {
		t.Fatalf("%+v, %v, want a handle in\n%s", e.Meta, err, text)
	}
	return e.Meta.Handle
}
