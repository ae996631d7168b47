package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/internal/release"
	"github.com/unifiedtoolprotocol/utp/te"
)

// measureTe builds te and measures it: what a reader of its envelopes finds and
// for how many tokens, and its lines and speed beside rg's. Arguments are three
// trees, of Go, Python and node_modules.
func measureTe(w io.Writer, trees []string) error {
	if len(trees) != 3 {
		return errors.New("te: want three folders: te /usr/local/go/src /usr/lib/python3 sdktest/node_modules")
	}
	bin, err := os.MkdirTemp("", "te")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	t := tested{w: w, te: filepath.Join(bin, "te")}
	if err := release.Compile(context.Background(), ".", "te", host, release.Release{}, t.te); err != nil {
		return err
	}
	for i, tree := range trees {
		if trees[i], err = filepath.Abs(tree); err != nil {
			return err
		}
	}
	return errors.Join(t.questions(trees), t.previews(filepath.Join(trees[0], "net")), t.besideRg(bin, trees[0], trees[2]))
}

// tested is te as it was built to be measured.
type tested struct {
	w  io.Writer
	te string
}

// definitions are what they look like, written without a look at the searcher.
// Group 1 is the name.
var definitions = map[string]*regexp.Regexp{
	".go": regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const )([A-Za-z_]\w{4,})\b`),
	".py": regexp.MustCompile(`(?m)^(?:    )?(?:async )?(?:def|class) ([A-Za-z_]\w{4,})\b`),
	".js": regexp.MustCompile(`(?m)^(?:export )?(?:default )?(?:async )?(?:function\*?|class|const|let|var) ([A-Za-z_$][\w$]{4,})\b`),
	".ts": regexp.MustCompile(`(?m)^(?:export )?(?:declare )?(?:default )?(?:abstract )?(?:async )?(?:function|class|interface|type|enum|const) ([A-Za-z_$][\w$]{4,})\b`),
}

// questionFile has a tree and a name on each line: names that stood in at least
// twenty lines and had one definition, chosen by their hash before te was asked
// for any of them. Every second one is held back: nobody looks at why it is not
// shown.
//
//go:embed testdata/te/questions.txt
var questionFile string

// question is a name, and where its only definition stands in a tree.
type question struct{ dir, name, place string }

// questions asks where names are defined.
func (t tested) questions(trees []string) error {
	var all []question
	for i, lang := range []string{"go", "python", "node"} {
		var names []string
		for line := range strings.Lines(questionFile) {
			if name, ok := strings.CutPrefix(line, lang+" "); ok {
				names = append(names, strings.TrimSpace(name))
			}
		}
		places, err := defined(trees[i], names)
		if err != nil {
			return err
		}
		for _, name := range names {
			if len(places[name]) != 1 {
				fmt.Fprintf(t.w, "  no question in this version of %s: %s has %d definitions\n", trees[i], name, len(places[name]))
				continue
			}
			all = append(all, question{trees[i], name, places[name][0]})
		}
	}
	sums := map[string]*tally{}
	for i, q := range all {
		a, err := t.ask(q)
		if err != nil {
			return err
		}
		for _, name := range []string{q.dir, []string{"first half", "held back"}[i%2]} {
			if sums[name] == nil {
				sums[name] = &tally{}
			}
			sums[name].add(a)
		}
		if !a.found && i%2 == 0 {
			fmt.Fprintf(t.w, "  not shown: %s in %s (%s)\n", q.name, q.dir, q.place)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		s := sums[name]
		fmt.Fprintf(t.w, "%s: %d of %d definitions found, %d of plain grep's %d tokens (%.1f %%)\n", name, s.found, s.asked, s.shown, s.plain, percent(s.shown, s.plain))
	}
	return nil
}

// tally sums up answers.
type tally struct{ asked, found, shown, plain int }

func (t *tally) add(a answer) {
	t.asked, t.shown, t.plain = t.asked+1, t.shown+a.shown, t.plain+a.plain
	if a.found {
		t.found++
	}
}

// answer says whether the definition is among what is shown, and the tokens of
// that and of plain grep.
type answer struct {
	found        bool
	shown, plain int
}

func percent(a, b int) float64 { return 100 * float64(a) / float64(max(b, 1)) }

// outside are directories of a tree that are no part of it.
var outside = []string{"site-packages", "__pycache__"}

// defined finds the places, as path:LINE, that define each name.
func defined(dir string, names []string) (places map[string][]string, err error) {
	places = map[string][]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || slices.Contains(outside, d.Name())) {
			return fs.SkipDir
		}
		re := definitions[filepath.Ext(path)]
		if err != nil || re == nil || !d.Type().IsRegular() || strings.Contains(rel, "test") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range re.FindAllSubmatchIndex(src, -1) {
			if name := string(src[m[2]:m[3]]); slices.Contains(names, name) {
				line := 1 + strings.Count(string(src[:m[2]]), "\n")
				places[name] = append(places[name], fmt.Sprintf("%s:%d", filepath.ToSlash(rel), line))
			}
		}
		return err
	})
	return places, err
}

func (t tested) ask(q question) (a answer, err error) {
	var apart []string
	for _, dir := range outside {
		apart = append(apart, "--exclude-dir", dir)
	}
	out, err := t.output(q.dir, append([]string{"grep", "-w", q.name}, apart...)...)
	if err != nil {
		return a, err
	}
	raw, err := t.output(q.dir, append([]string{"--raw", "grep", "-w", "-n", q.name}, apart...)...)
	if err != nil {
		return a, err
	}
	e, err := te.Parse(out)
	if err != nil {
		return a, fmt.Errorf("%s: %w", q.name, err)
	}
	found := slices.ContainsFunc(e.Matches, func(m te.Match) bool { return fmt.Sprintf("%s:%d", m.Path, m.N) == q.place })
	return answer{found, utp.Tokens(out), utp.Tokens(cutLong(raw))}, nil
}

// maxLine is how much of a line counts, in bytes: minified files have lines of
// a megabyte, beside which all else would vanish.
const maxLine = 400

func cutLong(raw string) string {
	var b strings.Builder
	for line := range strings.Lines(raw) {
		b.WriteString(strings.ToValidUTF8(line[:min(len(line), maxLine)], ""))
		if len(line) > maxLine {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// previewQueries are what an agent asks of a Go tree.
var previewQueries = []string{"Dial", "TODO", "func New", `context\.Context`, "err != nil", "ErrClosed", "(?i)deprecated"}

// previews counts the tokens of envelopes, and checks that each file that is
// shown has at least three lines, but for the last one, and that each is counted.
func (t tested) previews(dir string) error {
	shown, plain := 0, 0
	for _, q := range previewQueries {
		out, err := t.output(dir, "grep", q)
		if err != nil {
			return err
		}
		raw, err := t.output(dir, "--raw", "grep", "-n", q)
		if err != nil {
			return err
		}
		files, err := t.output(dir, "--raw", "grep", "-l", q)
		if err != nil {
			return err
		}
		e, err := te.Parse(out)
		if err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
		if want := strings.Count(files, "\n"); e.Meta.Files != want {
			return fmt.Errorf("%s: the envelope counts %d files, want %d", q, e.Meta.Files, want)
		}
		lines := map[string]int{}
		for _, m := range e.Matches {
			lines[m.Path]++
		}
		last := e.Matches[len(e.Matches)-1].Path
		for _, c := range e.Counts {
			if n := lines[c.Dir]; n < min(3, c.N) && c.Dir != last {
				return fmt.Errorf("%s: %d lines of %s, want at least 3 of its %d", q, n, c.Dir, c.N)
			}
		}
		shown, plain = shown+utp.Tokens(out), plain+utp.Tokens(raw)
	}
	fmt.Fprintf(t.w, "%d previews: %d of plain grep's %d tokens (%.1f %%)\n", len(previewQueries), shown, plain, percent(shown, plain))
	return nil
}

// output is what te prints of a tree, which counts as a workspace of its own:
// no rules above it hold.
func (t tested) output(dir string, args ...string) (string, error) {
	return outputIn(dir, t.te, append([]string{"--root", dir}, args...)...)
}

// outputIn is what a searcher prints. That it finds nothing, or that a file
// cannot be read, is no error.
func outputIn(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 2 && len(out) > 0) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("%s %q: %w", name, args, err)
	}
	return string(out), err
}
