package main

import (
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// patternFile has the patterns of besideRg, in parts with a heading.
//
//go:embed testdata/te/patterns.txt
var patternFile string

// withoutLiteral heads the patterns in which no text can be looked for.
const withoutLiteral = "without literals"

// besideRg compares te grep --raw with rg in two trees and in one that it makes
// in dir: the lines, and the time.
func (t tested) besideRg(dir, goTree, node string) error {
	if _, err := exec.LookPath("rg"); err != nil {
		return errors.New("te: rg is not installed: the lines and the time of te were not compared")
	}
	made := filepath.Join(dir, "made")
	if err := makeTree(made, 10_000); err != nil {
		return err
	}
	for _, c := range []struct {
		dir  string
		runs int
	}{{made, 1}, {goTree, 3}, {node, 3}} {
		if err := t.tree(c.dir, c.runs); err != nil {
			return err
		}
	}
	return nil
}

// tree compares te with rg in one tree, and the best of some runs of each.
func (t tested) tree(dir string, runs int) error {
	var literal, other, work []float64
	n, differ := 0, 0
	part := ""
	for line := range strings.Lines(patternFile) {
		pattern := strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(pattern, "# "); ok {
			part = name
			continue
		}
		ours, theirs, ratioOfWork, diff, err := t.compare(dir, pattern, runs)
		if err != nil {
			return err
		}
		if n++; diff != "" {
			differ++
			fmt.Fprintf(t.w, "  %s differs from rg:\n%s", pattern, diff)
		}
		ratio := ours.Seconds() / theirs.Seconds()
		work = append(work, ratioOfWork)
		if part == withoutLiteral {
			other = append(other, ratio)
		} else {
			literal = append(literal, ratio)
		}
		if ratio > 2.5 {
			fmt.Fprintf(t.w, "  %s takes %.1f times as long as rg (%v, %v)\n", pattern, ratio, ours.Round(time.Millisecond), theirs.Round(time.Millisecond))
		}
	}
	slices.Sort(literal)
	all := slices.Sorted(slices.Values(slices.Concat(literal, other)))
	slices.Sort(work)
	fmt.Fprintf(t.w, "%s: %d of %d patterns find the same lines as rg; median %.2f times its time and %.2f times the processor's, at most %.1f times with a literal and %.1f times without\n",
		dir, n-differ, n, all[len(all)/2], work[len(work)/2], literal[len(literal)-1], slices.Max(other))
	return nil
}

// rgFlags make rg list what te lists, in its order.
var rgFlags = []string{"--no-config", "--no-require-git", "--no-ignore-global", "--no-ignore-dot", "--no-ignore-parent", "--no-messages", "--sort=path", "-n", "-e"}

// compare runs both and returns the least time of each, the least work of ours
// by that of rg, and the first difference.
func (t tested) compare(dir, pattern string, runs int) (ours, theirs time.Duration, work float64, diff string, err error) {
	best := func(at *sample, name string, args []string) {
		r := timed(dir, name, args)
		err = errors.Join(err, r.err)
		if at.out == "" {
			*at = r
		}
		at.took, at.work = min(at.took, r.took), min(at.work, r.work)
	}
	var a, b sample
	for range runs {
		best(&a, t.te, []string{"--root", dir, "--raw", "grep", "-n", "-s", "-e", pattern})
		best(&b, "rg", append(slices.Clone(rgFlags), asciiClasses.Replace(pattern), "./"))
	}
	return a.took, b.took, a.work.Seconds() / b.work.Seconds(), firstDifference(comparable(b.out), comparable(a.out)), err
}

// sample is one run of a searcher.
type sample struct {
	out        string
	took, work time.Duration
	err        error
}

func timed(dir, name string, args []string) (r sample) {
	start := time.Now()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	r = sample{out: string(out), took: time.Since(start)}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 && len(out) == 0 {
		r.err = fmt.Errorf("%s %q: %w", name, args, err)
		return r
	}
	r.work = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return r
}

// asciiClasses say in rg's syntax what the classes of te mean.
var asciiClasses = strings.NewReplacer(`\\`, `\\`, `\w`, `[0-9A-Za-z_]`, `\W`, `[^0-9A-Za-z_]`, `\d`, `[0-9]`, `\D`, `[^0-9]`, `\s`, `[\t\n\f\r ]`, `\S`, `[^\t\n\f\r ]`,
	`\b`, `(?-u:\b)`, `\B`, `(?-u:\B)`)

// comparable is the lines of an output, sorted, without rg's warnings, its "./"
// and lines that are no UTF-8, in which a dot finds other bytes.
func comparable(out string) (lines []string) {
	for line := range strings.Lines(out) {
		line = strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "./")
		if utf8.ValidString(line) && !strings.Contains(line, ": WARNING: stopped searching binary file") && !strings.Contains(line, ": binary file matches") {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// firstDifference shows the first line of either that the other has not.
func firstDifference(want, have []string) string {
	for i := range max(len(want), len(have)) {
		w, h := "", ""
		if i < len(want) {
			w = want[i]
		}
		if i < len(have) {
			h = have[i]
		}
		if w != h {
			return fmt.Sprintf("    rg: %.200q\n    te: %.200q\n", w, h)
		}
	}
	return ""
}

// makeTree writes n files: with line feeds, with CRLF, without a last line
// break, in UTF-16, with a byte order mark, with a NUL, empty, and in folders.
func makeTree(dir string, n int) error {
	r := rand.New(rand.NewPCG(14, 14))
	words := append(strings.Fields(patternFile), "func Test(t *testing.T) {", "return nil, err", "}", "x := 1;", "https://example.com/a?b=c", "2026-11-22", "\t", "größe", "日本")
	for i := range n {
		var b strings.Builder
		end := []string{"\n", "\r\n"}[r.IntN(2)]
		for range r.IntN(40) {
			for range r.IntN(8) {
				b.WriteString(words[r.IntN(len(words))] + " ")
			}
			b.WriteString(end)
		}
		name := filepath.Join(dir, fmt.Sprintf("d%02d", i%37), fmt.Sprintf("e%d", i%5), fmt.Sprintf("f%05d.%s", i, []string{"go", "txt", "ts", "py"}[i%4]))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, written(r, b.String(), end), 0o666)); err != nil {
			return err
		}
	}
	return nil
}

// written is a text in one of the ways that files are written.
func written(r *rand.Rand, text, end string) []byte {
	switch r.IntN(20) {
	case 0, 1:
		out := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(text)) {
			out = append(out, byte(u), byte(u>>8))
		}
		return out
	case 2:
		out := []byte{0xfe, 0xff}
		for _, u := range utf16.Encode([]rune(text)) {
			out = append(out, byte(u>>8), byte(u))
		}
		return out
	case 3:
		return []byte("\xef\xbb\xbf" + text)
	case 4:
		return []byte(text[:len(text)/2] + "\x00" + text[len(text)/2:])
	case 5, 6, 7:
		return []byte(strings.TrimSuffix(text, end))
	}
	return []byte(text)
}
