package search

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// naive is what a search of text must find, said in another way: every line
// through the regular expression, context marked afterwards.
func naive(text string, q Query) (out []string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		return nil
	}
	pattern := q.Pattern
	if q.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	re := regexp.MustCompile(q.around(pattern))
	kind := make([]string, len(lines))
	count := 0
	for i, l := range lines {
		if re.MatchString(l) == q.Invert || q.Max > 0 && count == q.Max {
			continue
		}
		count++
		kind[i] = ":"
		for k := max(0, i-q.Before); k <= min(i+q.After, len(lines)-1); k++ {
			if kind[k] == "" {
				kind[k] = "-"
			}
		}
	}
	for i, k := range kind {
		if k != "" {
			out = append(out, fmt.Sprintf("%d%s%s", i+1, k, lines[i]))
		}
	}
	return out
}

// blocks searches text in blocks of the given size.
func blocks(t failer, dir string, text string, q Query, size int) (out []string) {
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o666); err != nil {
		t.Fatalf("%v", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer root.Close()
	p, err := Compile(q)
	if err != nil {
		t.Fatalf("%v", err)
	}
	r := newReader(root, p)
	r.buf = make([]byte, size)
	defer r.close()
	f := r.search(context.Background(), File{Path: "f"})
	if f == nil {
		return nil
	}
	if f.Err != nil || f.Binary {
		t.Fatalf("%+v", f)
	}
	for _, m := range f.Matches {
		sep := ":"
		if m.Context {
			sep = "-"
		}
		out = append(out, fmt.Sprintf("%d%s%s", m.Line, sep, m.Text))
	}
	return out
}

type failer interface{ Fatalf(string, ...any) }

// Wherever a block ends and whatever is looked for first, the lines are those
// that the regular expression alone finds.
func TestScanFindsWhatTheRegexpFinds(t *testing.T) {
	dir := t.TempDir()
	patterns := []string{"foo", "o", "foo|bar", "(fo+)b", "^foo", "bar$", "^$", `\bfoo\b`, "fo{2}", "x*", "[fb]oo", "é", "task|Kelvin", "s", "ſ", "K",
		"(?i)TASK", "foo.*bar", `a\.b`, "(foo)+", "(foo)?bar", "b(a|o)r", "_", `\w+\(\)`, "日本|foo",
		"[éö]", "é|É", "(?i)é", "(?i)ſ", "(?i)日É", "[^a-z]", "[éa]|foo", "[aeiou]r", "x?[�é]"}
	words := rapid.SampledFrom([]string{"foo", "FOO", "bar", "Bar", "boo", "_foo", "foo_", "é", "É", "task", "taſk", "Kelvin", "日本", "a.b", "axb", "x", "\xff", "日É", " ", "", "f()", "s", "\r"})
	rapid.Check(t, func(t *rapid.T) {
		q := Query{
			Pattern: rapid.SampledFrom(patterns).Draw(t, "pattern"), Literal: rapid.Bool().Draw(t, "literal"), IgnoreCase: rapid.Bool().Draw(t, "fold"),
			Word: rapid.Bool().Draw(t, "word"), Line: rapid.Bool().Draw(t, "line"), Invert: rapid.Bool().Draw(t, "invert"),
			Before: rapid.IntRange(0, 3).Draw(t, "before"), After: rapid.IntRange(0, 3).Draw(t, "after"), Max: rapid.IntRange(0, 3).Draw(t, "max"),
		}
		var text strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			text.WriteString(strings.Join(rapid.SliceOfN(words, 0, 4).Draw(t, "line"), "") + "\n")
		}
		src := text.String()
		if rapid.Bool().Draw(t, "open end") {
			src = strings.TrimSuffix(src, "\n")
		}
		size := rapid.IntRange(3, 64).Draw(t, "block")
		if d := cmp.Diff(naive(src, q), blocks(t, dir, src, q, size)); d != "" {
			t.Fatalf("%+v in %q, blocks of %d: -want +got\n%s", q, src, size, d)
		}
	})
}

func scanAll(t *testing.T, root *os.Root, q Query) map[string]Found {
	t.Helper()
	files, err := List(context.Background(), root, Options{Names: true})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Found{}
	if err := Scan(context.Background(), root, files, q, func(f Found) error { out[f.Path] = f; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestScanReadsUTF16AndMarks(t *testing.T) {
	wide := func(order binary.AppendByteOrder, text string) string {
		out := order.AppendUint16(nil, 0xfeff)
		for _, u := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, u)
		}
		return string(out)
	}
	root := tree(t, map[string]string{
		"le": wide(binary.LittleEndian, "one\r\nzwei größer 𝄞\n"), "be": wide(binary.BigEndian, "x\ngrößer"), "odd": wide(binary.LittleEndian, "größer") + "x",
		"bom": "\xef\xbb\xbfgrößer\n", "none": "\xff\xfe",
	})
	got := scanAll(t, root, Query{Pattern: "^(zwei )?größer"})
	for name, want := range map[string]string{"le": "2:zwei größer 𝄞", "be": "2:größer", "odd": "1:größer\uFFFD", "bom": "1:größer"} {
		f := got[name]
		if len(f.Matches) != 1 || fmt.Sprintf("%d:%s", f.Matches[0].Line, f.Matches[0].Text) != want {
			t.Errorf("%s: %+v, want %s", name, f.Matches, want)
		}
	}
}

func TestScanStopsAtNUL(t *testing.T) {
	long := strings.Repeat("some text\n", textHead/10+1)
	root := tree(t, map[string]string{"early": "find\n\x00find\n", "late": "find\n" + long + "find\n\x00\nfind\n", "text": "find\n"})
	got := scanAll(t, root, Query{Pattern: "find", Literal: true})
	if f := got["early"]; !f.Binary || f.Count != 0 {
		t.Errorf("early: %+v, want a file that is not text, without a match", f)
	}
	if f := got["late"]; !f.Binary || f.Count != 2 {
		t.Errorf("late: binary %v with %d matches, want the two before the NUL", f.Binary, f.Count)
	}
	if f := scanAll(t, root, Query{Pattern: "find", Binary: true})["late"]; f.Binary || f.Count != 3 {
		t.Errorf("late, searched in spite of that: binary %v with %d matches, want 3", f.Binary, f.Count)
	}
}

func TestScanReportsInOrderAndEndsWhenTold(t *testing.T) {
	files := map[string]string{}
	for i := range 3 * ahead / 2 {
		files[fmt.Sprintf("d%02d/f%04d", i%20, i)] = strings.Repeat("x\n", 1+i%40)
	}
	root := tree(t, files)
	list, err := List(context.Background(), root, Options{})
	if err != nil {
		t.Fatal(err)
	}
	next := 0
	if err := Scan(context.Background(), root, list, Query{Pattern: "x"}, func(f Found) error {
		if f.Path != list[next].Path {
			t.Fatalf("report of %s, want %s", f.Path, list[next].Path)
		}
		next++
		return nil
	}); err != nil || next != len(list) {
		t.Fatalf("%d of %d files, %v", next, len(list), err)
	}
	stop := errors.New("enough")
	if err := Scan(context.Background(), root, list, Query{Pattern: "x"}, func(Found) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("err = %v, want the error of report", err)
	}
}

func TestScanSaysWhatCannotBeRead(t *testing.T) {
	root := tree(t, map[string]string{"dir/f": "x"})
	var got Found
	err := Scan(context.Background(), root, []File{{Path: "dir"}, {Path: "gone"}}, Query{Pattern: "x"}, func(f Found) error { got = f; return nil })
	if err != nil || got.Path != "dir" || !errors.Is(got.Err, ErrNotRegular) {
		t.Errorf("%+v, %v, want dir named as no regular file", got, err)
	}
}

func TestSpans(t *testing.T) {
	for _, c := range []struct {
		q    Query
		line string
		want string
	}{
		{Query{Pattern: "a+"}, "aa b a", "[[0 2] [5 6]]"},
		{Query{Pattern: "a", Word: true}, "ab a.a", "[[3 4] [5 6]]"},
		{Query{Pattern: `.|\w+`, Word: true}, "(x)", "[[1 2]]"},
		{Query{Pattern: "é|a|b", Word: true}, "aéb é", "[[0 1] [3 4] [5 7]]"},
		{Query{Pattern: "a|ab|abc"}, "abcd", "[[0 1]]"},
		{Query{Pattern: "a|ab|abc", Longest: true}, "abcd", "[[0 3]]"},
		{Query{Pattern: "a.*?b", Longest: true}, "abb", "[[0 2]]"},
		{Query{Pattern: "^a"}, "aa", "[[0 1]]"},
		{Query{Pattern: "a b", Line: true}, "a b", "[[0 3]]"},
		{Query{Pattern: "x*"}, "ab", "[]"},
		{Query{Pattern: "B", Literal: true, IgnoreCase: true}, "abB", "[[1 2] [2 3]]"},
	} {
		p, err := Compile(c.q)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Spans(c.line)); got != c.want {
			t.Errorf("Spans(%q) of %+v = %s, want %s", c.line, c.q, got, c.want)
		}
	}
}
