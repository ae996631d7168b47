package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// tree makes files below a new directory. A name that ends in a slash is a directory.
func tree(t testing.TB, files map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return open(t, dir)
}

func open(t testing.TB, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

func paths(t testing.TB, root *os.Root, o Options) []string {
	t.Helper()
	files, err := List(context.Background(), root, o)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

// TestListAgreesWithGit runs git itself on rules and files of each case.
func TestListAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	golden.Run(t, "testdata/ignore/*.txtar", func(t *testing.T, c *golden.Case) {
		files := map[string]string{}
		for _, name := range c.Names() {
			switch {
			case name == "files":
				for f := range strings.Lines(c.Get(name)) {
					files[strings.TrimRight(f, "\n")] = "x"
				}
			case name != "listed":
				files[name] = unescape.Replace(c.Get(name) + "\n")
			}
		}
		root := tree(t, files)
		got := paths(t, root, Options{All: true})
		c.Want(t, "listed", strings.Join(got, "\n")+"\n")
		if err == nil {
			if d := cmp.Diff(gitFiles(t, git, root.Name()), got); d != "" {
				t.Errorf("git lists -, List lists +\n%s", d)
			}
		}
	})
}

// unescape lets a case show what an editor would hide.
var unescape = strings.NewReplacer("<sp>", " ", "<cr>", "\r", "<bom>", "\uFEFF")

func gitFiles(t *testing.T, git, dir string) []string {
	t.Helper()
	env := append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+t.TempDir(), "HOME="+t.TempDir())
	exclude, _ := os.ReadFile(filepath.Join(dir, ".git/info/exclude"))
	run := func(args ...string) string {
		cmd := exec.Command(git, append([]string{"-C", dir}, args...)...)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	run("init", "-q")
	if len(exclude) > 0 {
		if err := os.WriteFile(filepath.Join(dir, ".git/info/exclude"), exclude, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := strings.FieldsFunc(run("ls-files", "-co", "-z", "--exclude-standard"), func(r rune) bool { return r == 0 })
	slices.Sort(out)
	return out
}

func TestListLeavesOutWhatNobodyReads(t *testing.T) {
	root := tree(t, map[string]string{
		"a.go": "a", ".env": "k", ".github/w.yml": "w", "node_modules/x/i.js": "x", "big.txt": strings.Repeat("x", 100),
		".git/config": "c", "sub/.git": "gitdir: x", "sub/b.go": "b", "out/c.go": "c", ".gitignore": "out\n",
	})
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "a.go big.txt sub/b.go"},
		{Options{MaxSize: 99}, "a.go sub/b.go"},
		{Options{Ignored: true}, "a.go big.txt out/c.go sub/b.go"},
		{Options{All: true, MaxSize: -1}, ".env .github/w.yml .gitignore a.go big.txt node_modules/x/i.js sub/b.go"},
		{Options{Globs: []string{"*.go"}}, "a.go sub/b.go"},
		{Options{Globs: []string{"sub/**"}}, "sub/b.go"},
		{Options{Globs: []string{"!*.go"}}, "big.txt"},
		{Options{Globs: []string{"**/*.{go,txt}", "!a.*"}}, "big.txt sub/b.go"},
	} {
		if got := strings.Join(paths(t, root, c.o), " "); got != c.want {
			t.Errorf("List(%+v) = %s, want %s", c.o, got, c.want)
		}
	}
}

// contract: X-13
func TestListFollowsNoLink(t *testing.T) {
	root := tree(t, map[string]string{"in/a.go": "a"})
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "secret"), []byte("s"), 0o666); err != nil {
		t.Fatal(err)
	}
	link(t, other, filepath.Join(root.Name(), "out"))
	link(t, "in", filepath.Join(root.Name(), "again"))
	link(t, "in/a.go", filepath.Join(root.Name(), "b.go"))
	if got := paths(t, root, Options{}); !slices.Equal(got, []string{"in/a.go"}) {
		t.Errorf("List = %v, want in/a.go alone", got)
	}
}

func link(t testing.TB, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

func TestListIsTheSameEachTime(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/e%d/f%d.go", i%7, i%11, i)] = "x"
	}
	root := tree(t, files)
	want := paths(t, root, Options{})
	if !slices.IsSorted(want) || len(want) != 300 {
		t.Fatalf("%d files, sorted %v, want 300 sorted", len(want), slices.IsSorted(want))
	}
	for range 20 {
		if got := paths(t, root, Options{}); !slices.Equal(got, want) {
			t.Fatalf("List = %v, then %v", want, got)
		}
	}
}

func TestListErrors(t *testing.T) {
	root := tree(t, map[string]string{"a": "a"})
	if _, err := List(context.Background(), root, Options{Globs: []string{"[a"}}); err == nil || !strings.Contains(err.Error(), `glob "[a"`) {
		t.Errorf("err = %v, want the bad glob named", err)
	}
	moved := open(t, t.TempDir())
	if err := errors.Join(os.Remove(moved.Name()), os.Mkdir(moved.Name(), 0o777)); err != nil {
		t.Fatal(err)
	}
	if _, err := List(context.Background(), moved, Options{}); err == nil {
		t.Error("no error for a root whose place was taken by another directory")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := List(ctx, root, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
}

// contract: X-13
func TestReadRefusesWhatIsNoText(t *testing.T) {
	root := tree(t, map[string]string{"text": "a\n", "bin": "a\x00b", "long": strings.Repeat("x", 11), "dir/f": "x"})
	link(t, "/etc/passwd", filepath.Join(root.Name(), "out"))
	cases := map[string]error{"bin": ErrBinary, "long": ErrTooLarge, "dir": ErrNotRegular, "none": os.ErrNotExist}
	if runtime.GOOS != "windows" {
		if err := exec.Command("mkfifo", filepath.Join(root.Name(), "fifo")).Run(); err != nil {
			t.Fatal(err)
		}
		cases["fifo"] = ErrNotRegular
	}
	for name, want := range cases {
		if _, err := Read(root, name, 10); !errors.Is(err, want) {
			t.Errorf("Read(%s): %v, want %v", name, err, want)
		}
	}
	if src, err := Read(root, "out", 10); err == nil {
		t.Errorf("Read(out) = %q through a link out of the root", src)
	}
	if src, err := Read(root, "text", 10); err != nil || string(src) != "a\n" {
		t.Errorf("Read(text) = %q, %v", src, err)
	}
}

func TestExact(t *testing.T) {
	root := tree(t, map[string]string{
		"a.go":      "package a\nfunc Feed() {}\r\n// feed it\nvar feeder = a.b\n",
		"a_test.go": "func TestFeed(t *testing.T) { Feed() }\n",
		"bin":       "Feed\x00",
	})
	files, err := List(context.Background(), root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{Pattern: "Feed", Literal: true}, "a.go:2 def, a_test.go:1 def test"},
		{Query{Pattern: "feed", Literal: true, IgnoreCase: true}, "a.go:2 def, a.go:3, a.go:4, a_test.go:1 def test"},
		{Query{Pattern: "feed", Literal: true, IgnoreCase: true, Word: true}, "a.go:2 def, a.go:3, a_test.go:1 def test"},
		{Query{Pattern: "^func [A-Z]"}, "a.go:2 def, a_test.go:1 def test"},
		{Query{Pattern: "a.b", Literal: true}, "a.go:4"},
		{Query{Pattern: "ed", Literal: true, Word: true}, ""},
		{Query{Pattern: "FEED|B", IgnoreCase: true, Word: true}, "a.go:2 def, a.go:3, a.go:4, a_test.go:1 def test"},
		{Query{Pattern: "nothing"}, ""},
	} {
		ms, err := Exact(context.Background(), root, files, c.q)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(ms); got != c.want {
			t.Errorf("Exact(%+v) = %s, want %s", c.q, got, c.want)
		}
	}
	if ms, err := Exact(context.Background(), root, files, Query{Pattern: "func Feed"}); err != nil || ms[0].Text != "func Feed() {}" {
		t.Errorf("Exact = %+v, %v, want the line without its end", ms, err)
	}
}

func show(ms []Match) string {
	var out []string
	for _, m := range ms {
		s := fmt.Sprintf("%s:%d", m.Path, m.Line)
		if m.Def {
			s += " def"
		}
		if m.Test {
			s += " test"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func TestExactErrors(t *testing.T) {
	root := tree(t, map[string]string{"a": "a"})
	files := []File{{Path: "a"}, {Path: "gone"}}
	for _, q := range []Query{{}, {Pattern: "("}} {
		if _, err := Exact(context.Background(), root, files, q); err == nil {
			t.Errorf("Exact(%+v): no error", q)
		}
	}
	if ms, err := Exact(context.Background(), root, files, Query{Pattern: "a"}); err != nil || len(ms) != 1 {
		t.Errorf("Exact = %v, %v, want one match in spite of a file that is gone", ms, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Exact(ctx, root, files, Query{Pattern: "a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
}

func BenchmarkList(b *testing.B) {
	root := open(b, "..")
	b.ReportAllocs()
	for b.Loop() {
		paths(b, root, Options{})
	}
}

func BenchmarkExact(b *testing.B) {
	root := open(b, "..")
	files, err := List(context.Background(), root, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Exact(context.Background(), root, files, Query{Pattern: "func", Literal: true}); err != nil {
			b.Fatal(err)
		}
	}
}

// A name that only looks like a file makes nobody wait for it.
func TestReadsWaitForNobody(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	if n, err := impatient(r).Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes, %v, want the end of the wait", n, err)
	}
}

func TestListEntriesAreAllNames(t *testing.T) {
	root := tree(t, map[string]string{"a/b.go": "b", "out/c": "c", ".gitignore": "out\n"})
	link(t, "a", filepath.Join(root.Name(), "l"))
	if err := os.Mkdir(filepath.Join(root.Name(), "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	var got []string
	files, err := List(context.Background(), root, Options{Entries: true})
	for _, f := range files {
		got = append(got, f.Type.String()+" "+f.Path)
	}
	want := "d--------- a, ---------- a/b.go, d--------- empty, L--------- l"
	if err != nil || strings.Join(got, ", ") != want {
		t.Errorf("List = %v, %v, want %s", got, err, want)
	}
}
