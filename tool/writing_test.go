package tool

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/sandbox"
)

// appender is the variable that makes this test binary append to a file of the
// root that it names.
const appender = "TEST_APPEND_BELOW"

func TestMain(m *testing.M) {
	if ok, code, err := sandbox.Helper(os.Args, os.Stdout, os.Stderr); ok {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	if root := os.Getenv(appender); root != "" {
		os.Exit(appendLines(root))
	}
	os.Exit(m.Run())
}

func appendLines(root string) int {
	s, err := New(Config{Root: root})
	if err != nil {
		return 1
	}
	for i := range 25 {
		args, _ := json.Marshal(map[string]string{"path": "log.txt", "content": fmt.Sprintf("%d %d\n", os.Getpid(), i), "mode": "append"})
		if r := s.Run(context.Background(), utp.Call{Name: "write_file", Args: args}); r.Status != utp.StatusOK {
			fmt.Fprintln(os.Stderr, r.Text())
			return 1
		}
	}
	return 0
}

func TestAppendsOfSeveralProcessesLoseNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "log.txt", "first\n")
	var running []*exec.Cmd
	for range 4 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), appender+"="+dir)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, c)
	}
	for _, c := range running {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	lines := map[string]bool{}
	for s := bufio.NewScanner(strings.NewReader(read(t, dir, "log.txt"))); s.Scan(); {
		lines[s.Text()] = true
	}
	if len(lines) != 101 {
		t.Errorf("%d different lines, want 101", len(lines))
	}
}

func TestMaxLinesDoesNotOverflow(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "one\ntwo\n")
	s := open(t, Config{Root: dir})
	for start, want := range map[int]string{1: "a.txt: lines 1-2 of 2\none\ntwo", 2: "a.txt: lines 2-2 of 2\ntwo"} {
		r := run(s, "read_file", fmt.Sprintf(`{"path":"a.txt","start_line":%d,"max_lines":%d}`, start, math.MaxInt))
		if r.Text() != want {
			t.Errorf("from line %d: %q, want %q", start, r.Text(), want)
		}
	}
	if r := run(s, "read_file", fmt.Sprintf(`{"path":"a.txt","start_line":%d}`, math.MaxInt)); r.Status != utp.StatusFailed {
		t.Errorf("from the last number there is: %q", r.Text())
	}
}

func TestAFileThatChangedSinceItWasReadIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Root: dir})
	for name, args := range map[string]string{
		"edit_block":  `{"path":"a.txt","old_text":"two","new_text":"2"}`,
		"write_file":  `{"path":"a.txt","content":"x"}`,
		"delete_file": `{"path":"a.txt"}`,
		"move_file":   `{"from":"a.txt","to":"b.txt"}`,
		"apply_patch": `{"patch":"*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch"}`,
	} {
		write(t, dir, "a.txt", "one\ntwo\n")
		run(s, "read_file", `{"path":"a.txt"}`)
		write(t, dir, "a.txt", "one\ntwo\nthree\n")
		r := run(s, name, args)
		if r.Status != utp.StatusFailed || !strings.Contains(r.Text(), "changed since it was read") || read(t, dir, "a.txt") != "one\ntwo\nthree\n" {
			t.Errorf("%s: %s %q", name, r.Status, r.Text())
		}
		if r := run(s, "read_file", `{"path":"a.txt"}`); r.Status != utp.StatusOK {
			t.Fatal(r.Text())
		}
		if r := run(s, name, args); r.Status != utp.StatusOK {
			t.Errorf("%s after it was read again: %q", name, r.Text())
		}
		os.Remove(filepath.Join(dir, "b.txt"))
	}
	write(t, dir, "log.txt", "1\n")
	run(s, "read_file", `{"path":"log.txt"}`)
	write(t, dir, "log.txt", "1\n2\n")
	if r := run(s, "write_file", `{"path":"log.txt","content":"3\n","mode":"append"}`); r.Status != utp.StatusOK || read(t, dir, "log.txt") != "1\n2\n3\n" {
		t.Errorf("append: %q, %q", r.Text(), read(t, dir, "log.txt"))
	}
}

func TestWhatWasForeseenIsWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.txt", "one\n")
	s := open(t, Config{Root: dir})
	c := utp.Call{Name: "edit_block", Args: json.RawMessage(`{"path":"a.txt","old_text":"one","new_text":"two"}`)}
	changes, no := s.Foresee(t.Context(), c)
	if no != nil || len(changes) != 1 || changes[0] != (Change{Path: "a.txt", Before: "one\n", After: "two\n"}) {
		t.Fatalf("%+v, %v", changes, no)
	}
	if got := read(t, dir, "a.txt"); got != "one\n" {
		t.Errorf("to foresee wrote %q", got)
	}
	write(t, dir, "a.txt", "one\nmore\n")
	if r := s.Run(t.Context(), c); r.Status != utp.StatusFailed {
		t.Errorf("the file changed after it was foreseen, and yet: %q", r.Text())
	}
	c.Args = json.RawMessage(`{"path":"new.txt","old_text":"one","new_text":"two"}`)
	if _, no := s.Foresee(t.Context(), c); no == nil || !strings.Contains(no.Text(), "File not found") {
		t.Errorf("a call that must fail: %v", no)
	}
	c = utp.Call{Name: "write_file", Args: json.RawMessage(`{"path":"new.txt","content":"x"}`)}
	if changes, no := s.Foresee(t.Context(), c); no != nil || len(changes) != 1 || !changes[0].Created {
		t.Errorf("%+v, %v", changes, no)
	}
	write(t, dir, "new.txt", "of another")
	if r := s.Run(t.Context(), c); r.Status != utp.StatusFailed || read(t, dir, "new.txt") != "of another" {
		t.Errorf("a file that came after it was foreseen: %q", r.Text())
	}
}

func TestKeysAndWhatRunsByItselfNeedAYes(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"id_rsa", "sub/server.pem", ".npmrc", ".netrc", ".git/config", "bx.toml"} {
		write(t, dir, name, "secret-text\n")
	}
	if err := os.Symlink("id_rsa", filepath.Join(dir, "harmless.txt")); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Root: dir})
	reads := []string{"id_rsa", "sub/server.pem", ".npmrc", ".netrc", ".git/config", "harmless.txt", "./sub/../ID_RSA"}
	writes := []string{".github/workflows/ci.yml", ".vscode/tasks.json", "bx.toml", "sub/llmc.toml", ".GitHub/workflows/x"}
	try := func(name, args string) {
		t.Helper()
		c := utp.Call{Name: name, Args: json.RawMessage(args)}
		if s.Sensitive(c) == "" {
			t.Errorf("%s %s is not sensitive", name, args)
		}
		if r := s.Run(t.Context(), c); r.Status != utp.StatusDenied || strings.Contains(r.Text(), "secret-text") {
			t.Errorf("%s %s without a yes: %s %q", name, args, r.Status, r.Text())
		}
	}
	for _, p := range reads {
		try("read_file", fmt.Sprintf(`{"path":%q}`, p))
		try("inspect_code", fmt.Sprintf(`{"path":%q,"line":1}`, p))
	}
	for _, p := range writes {
		try("write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, p))
		try("move_file", fmt.Sprintf(`{"from":"none.txt","to":%q}`, p))
		try("apply_patch", fmt.Sprintf(`{"patch":"*** Begin Patch\n*** Add File: %s\n+x\n*** End Patch"}`, p))
	}
	yes := utp.Call{Name: "read_file", Args: json.RawMessage(`{"path":"id_rsa"}`)}
	if r := s.Run(Approve(t.Context()), yes); r.Status != utp.StatusOK || !strings.Contains(r.Text(), "secret-text") {
		t.Errorf("with a yes: %s %q", r.Status, r.Text())
	}
	if why := s.Sensitive(utp.Call{Name: "read_file", Args: json.RawMessage(`{"path":"main.go"}`)}); why != "" {
		t.Errorf("main.go: %s", why)
	}
	if r := run(s, "grep", `{"pattern":"secret-text","hidden":true}`); strings.Contains(r.Text(), "id_rsa") || strings.Contains(r.Text(), ".pem") || strings.Contains(r.Text(), ".npmrc") {
		t.Errorf("grep shows keys: %s", r.Text())
	}
}

// Whatever an edit forgives, it changes the lines that it found and no others,
// and keeps every line end.
func TestEditsKeepWhatTheyDoNotName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 12).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		in := rapid.SampledFrom([]string{"", "\t", "    ", "\t\t"})
		var file []string
		for i := range n {
			file = append(file, in.Draw(t, "indent")+fmt.Sprintf("line %d;", i))
			if rapid.Bool().Draw(t, "blank") {
				file = append(file, "")
			}
		}
		src := strings.Join(file, end) + rapid.SampledFrom([]string{"", end}).Draw(t, "last")
		from := rapid.IntRange(0, n-2).Draw(t, "from")
		to := rapid.IntRange(from+1, n-1).Draw(t, "to")
		var old, fresh []string
		for i := from; i <= to; i++ {
			old = append(old, in.Draw(t, "other indent")+fmt.Sprintf("line %d;", i))
			fresh = append(fresh, in.Draw(t, "new indent")+fmt.Sprintf("new %d;", i))
		}
		o, f := strings.Join(old, "\n"), strings.Join(fresh, "\n")
		r, err := replacement{Old: &o, New: &f}.replace(src, "a.txt")
		if err != nil {
			t.Fatalf("%q in %q: %v", o, src, err)
		}
		if strings.Count(r.text, "\r\n")*len(end) != strings.Count(r.text, "\n")*2 && end == "\r\n" || end == "\n" && strings.Contains(r.text, "\r") {
			t.Fatalf("line ends of %q became %q", src, r.text)
		}
		for i := range n {
			if has := strings.Contains(r.text, fmt.Sprintf("line %d;", i)); has == (i >= from && i <= to) {
				t.Fatalf("line %d of %q, replaced from %d to %d: %q", i, src, from, to, r.text)
			}
		}
		if strings.HasSuffix(src, end) != strings.HasSuffix(r.text, end) {
			t.Fatalf("the end of %q became %q", src, r.text)
		}
	})
}

// A patch never panics, and one that is refused changes nothing.
func FuzzPatch(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n@@ x\n-one\n+two\n*** End Patch", "one\ntwo\n")
	f.Add("--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "one\r\ntwo\r\n")
	f.Add("*** Update File: a\n@@\n one\n\n+x\n three\n*** End of File", "one\n\n\nthree")
	f.Fuzz(func(t *testing.T, patch, src string) {
		files, err := readPatch(patch)
		if err != nil {
			return
		}
		for _, p := range files {
			p.content()
			_, _, _ = p.update(src, "a")
		}
	})
}

func TestImagesGoToModelsThatTakeThem(t *testing.T) {
	dir := t.TempDir()
	png := "\x89PNG\r\n\x1a\n\x00\x00"
	write(t, dir, "logo.png", png)
	write(t, dir, "big.png", png+strings.Repeat("x", maxImage))
	write(t, dir, "text.png", "words\n")
	takes := true
	s := open(t, Config{Root: dir, Images: func(context.Context) bool { return takes }})
	r := run(s, "read_file", `{"path":"logo.png"}`)
	if len(r.Parts) != 2 || r.Status != utp.StatusOK {
		t.Fatalf("%+v", r)
	}
	if b, ok := r.Parts[1].(utp.Blob); !ok || b.MIME != "image/png" || string(b.Data) != png {
		t.Errorf("%+v", r.Parts[1])
	}
	if r := run(s, "read_file", `{"path":"big.png"}`); !strings.Contains(r.Text(), "Image is too large") {
		t.Errorf("%q", r.Text())
	}
	if r := run(s, "read_file", `{"path":"text.png"}`); r.Status != utp.StatusOK || !strings.Contains(r.Text(), "words") {
		t.Errorf("%q", r.Text())
	}
	takes = false
	if r := run(s, "read_file", `{"path":"logo.png"}`); r.Status != utp.StatusFailed || !strings.Contains(r.Text(), "the model takes none") {
		t.Errorf("%q", r.Text())
	}
}
