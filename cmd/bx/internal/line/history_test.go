package line_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/line"
)

func Example() {
	in, out, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	fmt.Fprint(out, "one\\\ntwo\n```\nfenced\n```\nlast")
	out.Close()
	p := line.Plain{In: in}
	for {
		text, err := p.Read(context.Background())
		if err == io.EOF {
			break
		}
		fmt.Printf("%q\n", text)
	}
	// Output:
	// "one\ntwo"
	// "```\nfenced\n```"
	// "last"
}

// The history is the owner's alone, survives, and holds no secrets and nothing
// that began with a blank.
func TestHistoryIsPrivate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bx", "history")
	h, err := line.OpenHistory(file)
	if err != nil {
		t.Fatal(err)
	}
	kept := []string{"Where are calls parsed?", "two\nlines", "How is the token counted, and is a password asked for?", "set max_tokens = 40"}
	for _, s := range kept {
		add(t, h, s)
	}
	for _, s := range []string{" with a blank before", "use sk-" + strings.Repeat("a1", 10), "token ghp_0123456789abcdefghij",
		"export API_KEY=abcdef123456", "my password is hunter22", "curl -H 'Authorization: Bearer abcdefghijklmnop'", "clone https://me:secret@host/x",
		"-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"} {
		add(t, h, s)
		if h.At(h.Len()-1) != s {
			t.Errorf("%q is not remembered", s)
		}
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %v", mode)
	}
	again, err := line.OpenHistory(file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range again.Len() {
		got = append(got, again.At(i))
	}
	if strings.Join(got, "|") != strings.Join(kept, "|") {
		t.Errorf("kept %q, want %q", got, kept)
	}
}

func add(t *testing.T, h *line.History, s string) {
	t.Helper()
	if err := h.Add(s); err != nil {
		t.Fatal(err)
	}
}

// A file that others could read is closed to them, one that grew is shortened,
// damage costs the damaged line alone, and what is no file is left alone.
func TestHistoryFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	var b strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&b, "\"question %d\"\n", i)
	}
	b.WriteString("{damaged\n\"the last\"\n")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := line.OpenHistory(file)
	if err != nil || h.Len() != 1000 || h.At(999) != "the last" {
		t.Errorf("%d, %v", h.Len(), err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() > 20_000 || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%v %v", info, err)
	}
	if _, err := line.OpenHistory(t.TempDir()); err == nil {
		t.Error("a folder is taken for a history")
	}
}

func TestPlainEndsWithItsContext(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a read of the console cannot be ended on this system")
	}
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	p := line.Plain{In: in}
	if _, err := p.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
