package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/commands"
)

// te runs te in the current directory.
func runTe(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = commands.Main(context.Background(), commands.Streams{In: os.Stdin, Out: &out, Err: &errs}, func(string) string { return "" }, "", args)
	return out.String(), errs.String(), code
}

// other runs another program in the current directory.
func other(t fataler, name string, args ...string) (stdout string, code int) {
	cmd := exec.Command(name, args...)
	cmd.Env = []string{"LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", name, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

type fataler interface{ Fatalf(string, ...any) }

func wantGNU(t *testing.T) {
	if out, err := exec.Command("grep", "--version").Output(); err != nil || !bytes.Contains(out, []byte("GNU grep")) {
		t.Skip("GNU grep is not installed")
	}
}

// grepWords are lines' pieces, and grepPatterns find some of them. Where words
// count, grep and te agree on ASCII alone.
var (
	grepWords    = []string{"foo", "FOO", "bar", "Bar", "foo_bar", "_foo", "foo1", "a.b", "axb", "(x)", "x", " ", "", "\t", "foo-bar", "foobar", "a\\b", "\r", "[y]", "--", "12:34:"}
	grepForeign  = []string{"größe", "日本", "é", "ñandú", "𝄞", "…"}
	grepPatterns = []string{"foo", "o", "foo|bar", "(fo+)b", "^foo", "bar$", "^$", "fo{2}", "[fb]oo", "foo.*bar", `a\.b`, "(foo)+", "(foo)?bar", "b(a|o)r", "_", "^[^x]*$", "x*", ".", "-", "^ *foo", "f.o", "12:"}
	wordPatterns = []string{`\bfoo\b`, `\<foo`, `bar\>`, `\w+`, `\Bfoo`, `foo\W`, "[[:upper:]]"}
)

// grepCase is a tree and the arguments of a search in it.
type grepCase struct {
	files map[string]string
	args  []string
	paths []string
}

func drawGrep(t *rapid.T) (c grepCase) {
	ascii := rapid.Bool().Draw(t, "ascii")
	words, patterns := grepWords, slices.Concat(grepPatterns, grepForeign)
	if ascii {
		patterns = slices.Concat(grepPatterns, wordPatterns)
	} else {
		words = slices.Concat(grepWords, grepForeign)
	}
	c.files = map[string]string{}
	for range rapid.IntRange(1, 5).Draw(t, "files") {
		var b strings.Builder
		for range rapid.IntRange(0, 9).Draw(t, "lines") {
			b.WriteString(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(t, "line"), "") + "\n")
		}
		text := b.String()
		if rapid.Bool().Draw(t, "open end") {
			text = strings.TrimSuffix(text, "\n")
		}
		c.files[rapid.SampledFrom([]string{"a.go", "b.txt", "d/a.go", "d/a_test.go", "d/c", "d/e/b.go", "z.md"}).Draw(t, "name")] = text
	}
	flags := []string{"-i", "-v", "-c", "-l", "-L", "-o", "-n", "-h", "-H", "-s", "-x", "-F", "-q", "-m1", "-m2", "-A1", "-B1", "-B2", "-C1", "-C2", "-r", "-ni", "--color=never",
		"--include=*.go", "--exclude=*.txt", "--ignore-case", "--invert-match", "--files-with-matches", "--only-matching", "--line-number", "--no-filename", "--max-count=1"}
	if ascii {
		flags = append(flags, "-w", "-w", "-wo", "--word-regexp")
	}
	c.args = rapid.SliceOfN(rapid.SampledFrom(flags), 0, 4).Draw(t, "flags")
	if slices.ContainsFunc(c.args, func(s string) bool { return s == "-o" || s == "-wo" || s == "--only-matching" }) {
		c.args = slices.DeleteFunc(c.args, isContext) // of which nothing is printed but, at times, what parts it
	}
	for range rapid.IntRange(1, 2).Draw(t, "patterns") {
		p := rapid.SampledFrom(patterns).Draw(t, "pattern")
		if slices.ContainsFunc(c.args, isWord) && p == "x*" {
			p = "x+" // which empty words a line has differs
		}
		c.args = append(c.args, "-e", p)
	}
	for name := range c.files {
		c.paths = append(c.paths, name)
	}
	slices.Sort(c.paths)
	return c
}

func isWord(flag string) bool { return flag == "-w" || flag == "-wo" || flag == "--word-regexp" }

func isContext(flag string) bool {
	return strings.HasPrefix(flag, "-A") || strings.HasPrefix(flag, "-B") || strings.HasPrefix(flag, "-C")
}

func (c grepCase) write(t fataler, dir string) {
	for name, text := range c.files {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatalf("%v", err)
		}
	}
}

// matcher adds -E, unless another kind of pattern is asked for.
func (c grepCase) matcher(args []string) []string {
	if slices.Contains(args, "-F") {
		return args
	}
	return append([]string{"-E"}, args...)
}

// What te --raw grep prints is what GNU grep prints, byte for byte, with its
// exit code: of files that are named, and of a directory.
//
// contract: TE-05 TE-12 TE-13
func TestGrepPrintsWhatGNUGrepPrints(t *testing.T) {
	wantGNU(t)
	dir := t.TempDir()
	t.Chdir(dir)
	rapid.Check(t, func(t *rapid.T) {
		if err := errors.Join(os.RemoveAll("tree"), os.MkdirAll("tree/.git", 0o777), os.Chdir("tree")); err != nil {
			t.Fatalf("%v", err)
		}
		defer os.Chdir(dir)
		c := drawGrep(t)
		c.write(t, ".")
		args := append(slices.Clone(c.args), c.paths...)
		want, wantCode := other(t, "grep", c.matcher(args)...)
		got, _, code := runTe(append([]string{"--raw", "grep"}, args...)...)
		if d := cmp.Diff(want, got); d != "" || code != wantCode {
			t.Fatalf("grep -E %q: exit code %d, want %d; -want +got\n%s", args, code, wantCode, d)
		}
		args = append(slices.Clone(c.args), ".")
		want, wantCode = other(t, "grep", append(c.matcher(args), "-r", "--exclude-dir=.git")...)
		got, _, code = runTe(append([]string{"--raw", "grep"}, args...)...)
		if d := cmp.Diff(sorted(want), sorted(got)); d != "" || code != wantCode {
			t.Fatalf("grep -rE %q: exit code %d, want %d; -want +got\n%s", args, code, wantCode, d)
		}
	})
}

func sorted(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	slices.Sort(lines)
	return lines
}

// contract: TE-05
func TestFlagsOfRgMeanWhatTheyMeanThere(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("rg is not installed")
	}
	t.Chdir(t.TempDir())
	c := grepCase{files: map[string]string{
		"a.go": "foo\nFoo bar\r\nbar foo foo\n", "b_test.go": "foo\n", "d/a.ts": "foo\nx\ny\nfoo\n", "d/e/c.py": "Foo\n", ".hidden/h.go": "foo\n",
		".gitignore": "out\n*.log\n", "out/o.go": "foo\n", "x.log": "foo\n", "md/r.md": "foo bar\n", "n.bin": "foo\x00foo\n", ".git/HEAD": "",
	}}
	c.write(t, ".")
	for _, args := range []string{
		"foo", "-i foo", "-S foo", "-S Foo", "-s Foo", "--smart-case bar", "-g *.go foo", "-g !*.go foo", "-g d/** foo", "-g **/e/* Foo", "-g *.{go,ts} foo", "-g *.go -g !b_* foo", "--glob=!d foo", "-g !d/ foo", "-g !d/** foo", "-g !**/e/** -i foo", "-g !e -i foo",
		"-t go foo", "-T go foo", "-tpy Foo", "-t ts -t go foo", "--hidden foo", "-. foo", "--no-ignore foo", "-u foo", "-uu foo", "--crlf bar$", "bar$",
		"--column -n foo", "--count-matches foo", "--count foo", "-c foo a.go", "--files-with-matches foo", "--files-without-match bar", "-n foo", "--line-number foo a.go", "-N foo", "-m1 foo",
		"--max-count 1 foo", "-A1 foo d", "-n -C1 x d", "-w foo", "-x foo", "-v foo a.go", "-o fo+", "-F o.o", "-e foo -e bar", "--no-heading foo", "--color never foo", "-j2 foo", "--no-messages foo",
		"-q foo", "-q nothing", "nothing", "--no-filename foo", "--with-filename foo a.go", "-P fo{2}", "-a foo n.bin", "--text foo n.bin",
	} {
		fields := strings.Fields(args)
		rg := append([]string{"--no-config", "--no-require-git", "--no-ignore-global", "--no-ignore-parent", "--sort=path"}, fields...)
		if !strings.ContainsAny(fields[len(fields)-1], "./") && fields[len(fields)-1] != "d" {
			rg = append(rg, "./") // where rg is given no path and no terminal it may read its input
		}
		want, wantCode := other(t, "rg", rg...)
		want = strings.ReplaceAll("\n"+want, "\n./", "\n")[1:]
		got, errs, code := runTe(append([]string{"--raw", "grep"}, fields...)...)
		if d := cmp.Diff(want, got); d != "" || code != wantCode {
			t.Errorf("te grep %s: exit code %d, want %d; -rg +te\n%s%s", args, code, wantCode, d, errs)
		}
	}
}
