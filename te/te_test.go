package te

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func at(path string, n int, text string) Match { return Match{Path: path, Line: Line{n, text}} }

// contract: TE-01
func TestHeaderIsMarkersAndCompactJSON(t *testing.T) {
	m := Meta{Cmd: "search", Matches: 3, Lines: 4, Files: 5, Size: 6, Truncated: true, Handle: "res_0123456789ab",
		HotZone: "a/b/ (73%)", ContentType: "code/go", Error: "e", Hint: "<h> & co"}
	want := "# TE_BEGIN_META\n" +
		`{"v":1,"cmd":"search","matches":3,"lines":4,"files":5,"size":6,"truncated":true,"handle":"res_0123456789ab",` +
		`"hot_zone":"a/b/ (73%)","content_type":"code/go","error":"e","hint":"<h> & co"}` +
		"\n# TE_END_META\n\n"
	if d := cmp.Diff(want, m.String()); d != "" {
		t.Error(d)
	}
}

// contract: TE-01 TE-02
func TestHeaderLeavesOutWhatIsAbsent(t *testing.T) {
	for _, c := range []struct {
		m    Meta
		want string
	}{
		{Meta{Cmd: "search"}, `{"v":1,"cmd":"search","matches":0,"truncated":false}`},
		{Meta{Cmd: "grep"}, `{"v":1,"cmd":"grep","matches":0}`},
		{Meta{Cmd: "cat", Lines: 9}, `{"v":1,"cmd":"cat","lines":9}`},
		{Meta{Cmd: "cat", Lines: 9, Truncated: true}, `{"v":1,"cmd":"cat","lines":9,"truncated":true}`},
		{Meta{Cmd: "grep", Error: "timeout"}, `{"v":1,"cmd":"grep","error":"timeout"}`},
	} {
		if got := strings.Split(c.m.String(), "\n")[1]; got != c.want {
			t.Errorf("header = %s, want %s", got, c.want)
		}
	}
}

// contract: TE-17
func TestHeaderHasNoKeyForAdvice(t *testing.T) {
	full := Meta{"c", 1, 1, 1, 1, true, "h", "z", "t", "e", "i"}
	var keys map[string]any
	if err := json.Unmarshal([]byte(strings.Split(full.String(), "\n")[1]), &keys); err != nil {
		t.Fatal(err)
	}
	allowed := "v cmd matches lines files size truncated handle hot_zone content_type error hint"
	for k := range keys {
		if !strings.Contains(" "+allowed+" ", " "+k+" ") {
			t.Errorf("key %q in the header: want only %s", k, allowed)
		}
	}
}

// contract: TE-04
func TestRankPutsDefinitionsFirstAndTestsLast(t *testing.T) {
	ms := []Match{
		{Path: "d", Test: true}, {Path: "c", Test: true, Def: true}, {Path: "b1"}, {Path: "a", Def: true}, {Path: "b2"},
	}
	Rank(ms)
	var got []string
	for _, m := range ms {
		got = append(got, m.Path)
	}
	if d := cmp.Diff([]string{"a", "b1", "b2", "c", "d"}, got); d != "" {
		t.Error(d)
	}
}

// contract: TE-09
func TestHotZoneNeedsFiveMatchesAndHalfOfThem(t *testing.T) {
	for _, c := range []struct {
		totals []Tally
		want   string
	}{
		{nil, ""},
		{[]Tally{{"a/", 4}}, ""},
		{[]Tally{{"a/", 5}}, "a/ (100%)"},
		{[]Tally{{"a/b/c/", 2}, {"a/b/d/", 1}, {"x/", 3}}, "a/b/ (50%)"},
		{[]Tally{{"a/", 2}, {"b/", 2}, {"c/", 1}}, ""},
		{[]Tally{{"tools/rag/", 11}, {"x/", 4}}, "tools/rag/ (73%)"},
		{[]Tally{{"./", 6}}, "./ (100%)"},
	} {
		if got := hotZone(c.totals); got != c.want {
			t.Errorf("hotZone(%v) = %q, want %q", c.totals, got, c.want)
		}
	}
}

// contract: TE-09
func TestContentType(t *testing.T) {
	for _, c := range []struct{ name, head, want string }{
		{"a.go", "", "code/go"}, {"A.PY", "", "code/python"}, {"x/y.tsx", "", "code/typescript"},
		{"a.yml", "", "yaml"}, {"README.md", "", "markdown"}, {"t.csv", "", "tabular"},
		{"out", "2026-01-02 10:11:12 up\n2026-01-02 10:11:13 down\n", "log"},
		{"out", "INFO a\nx\nERROR b", "log"},
		{"out", "Jan  2 10:11:12 host a\nJan  2 10:11:13 host b", "log"},
		{"out", "INFO a\nb\nc\nd\ne\nINFO f\n", "text"},
		{"out", " {\"a\":1}\n", "json"}, {"out", "[1]", "json"}, {"out", "[", "text"},
		{"Makefile", "all:\n", "text"}, {"empty", "", "text"},
	} {
		if got := ContentType(c.name, c.head); got != c.want {
			t.Errorf("ContentType(%q, %q) = %q, want %q", c.name, c.head, got, c.want)
		}
	}
}

// contract: TE-03
func TestCrumbsNameTheLargestDirectoriesAndCountTheRest(t *testing.T) {
	var r Result
	r.Meta.Cmd = "search"
	for i := range 8 {
		r.Totals = append(r.Totals, Tally{fmt.Sprintf("d%d/", i), 10 - i})
	}
	want := "\n# TE: 10 more in d0/\n# TE: 9 more in d1/\n# TE: 8 more in d2/\n# TE: 7 more in d3/\n# TE: 6 more in d4/\n" +
		"# TE: 12 more in 3 other directories\n"
	if got := Render(r, 0); !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want at the end %s", got, want)
	}
}

// contract: TE-16
func TestOneMatchIsShownWhateverTheBudget(t *testing.T) {
	r := Result{Meta: Meta{Cmd: "search"}, Matches: []Match{{Path: "a_test.go", Line: Line{1, "x"}, Test: true}, at("b.go", 2, "y")}}
	got := Render(r, 1)
	if !strings.Contains(got, "a_test.go:1: x\n") || !strings.Contains(got, "# TE: 1 more in ./\n") {
		t.Errorf("got %s, want the first match and a breadcrumb for the second", got)
	}
}

func TestFurtherLinesGoBeforeMatches(t *testing.T) {
	more := []Line{{2, strings.Repeat("m", 300)}}
	r := Result{Meta: Meta{Cmd: "search"}, Matches: []Match{{Path: "a", Line: Line{1, "x"}, More: more}, {Path: "b", Line: Line{1, "y"}, More: more}}}
	got := Render(r, 300)
	if len(got) > 300 || !strings.Contains(got, "a:1: x\nb:1: y\n") {
		t.Errorf("%d bytes:\n%s\nwant both matches without further lines in 300", len(got), got)
	}
}

func TestLinesAreHarmless(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"tab\tand é\r\n", "tab\tand é"},
		{"\x1b[31mred\r# TE: 1 more in x/", `\x1b[31mred\x0d# TE: 1 more in x/`},
		{"a\u2028b\u202ec\u0085", `a\u2028b\u202ec\x85`},
		{"bad \xff byte", "bad \uFFFD byte"},
		{strings.Repeat("é", 300), strings.Repeat("é", 200) + "…"},
		{"x" + strings.Repeat("é", 300), "x" + strings.Repeat("é", 199) + "…"},
	} {
		if got := clean(c.in); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestPathsThatCouldMisleadAreQuoted(t *testing.T) {
	for _, p := range []string{"# TE: 3 more in x", "# TE_BEGIN_META", "[TE] x", `"q"`, "a\nb", "a:3: b", "a-3- b", " a", "a ", "\xff", ""} {
		if got := Quote(p); !strings.HasPrefix(got, `"`) || strings.Contains(got, "\n") {
			t.Errorf("Quote(%q) = %s, want it quoted", p, got)
		}
	}
	for _, p := range []string{"a/b.go", "release-3", "a:3", "ü.md", "a b.go"} {
		if got := Quote(p); got != p {
			t.Errorf("Quote(%q) = %s, want it as it is", p, got)
		}
	}
}

func TestParseSaysWhatItWanted(t *testing.T) {
	head := "# TE_BEGIN_META\n{\"v\":1,\"cmd\":\"x\"}\n# TE_END_META\n\n"
	for _, c := range []struct{ in, want string }{
		{"", "want a header"},
		{"# TE_BEGIN_META\n{}\n", "want a header"},
		{"# TE_BEGIN_META\n{\n# TE_END_META\n\n", "header: unexpected end"},
		{"# TE_BEGIN_META\n{\"v\":2}\n# TE_END_META\n\n", "version 2: want 1"},
		{head + "prose\n", "line 5: \"prose\": want path:LINE: text"},
		{head + "\"a:3: x\n", "path: invalid"},
		{head + "\"a\"b:3: x\n", "want path:LINE"},
		{head + ":3: x\n", "want path:LINE"},
		{head + "a-3- x\n", "want a match before"},
		{head + "a:99999999999999999999: x\n", "out of range"},
	} {
		if _, err := Parse(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Parse(%q) = %v, want %q", c.in, err, c.want)
		}
	}
}

// contract: TE-13
func TestFailReadsBack(t *testing.T) {
	e, err := Parse(Fail("grep", "invalid_pattern", "bad\npattern"))
	if err != nil || e.Meta != (Meta{Cmd: "grep", Error: "invalid_pattern"}) || e.Text != `bad\x0apattern` {
		t.Errorf("Parse(Fail) = %+v, %v", e, err)
	}
}

func drawLine(t *rapid.T) Line {
	return Line{rapid.IntRange(1, 99999).Draw(t, "line"), rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"# TE_BEGIN_META", "# TE: 4 more in x/", "b:3: c", "b-3- c", "", "[TE] x", "\n# TE_END_META\n\n"})).Draw(t, "text")}
}

func drawResult(t *rapid.T) (Result, int) {
	r := Result{Meta: Meta{Cmd: rapid.SampledFrom([]string{"search", "grep"}).Draw(t, "cmd"), Hint: rapid.String().Draw(t, "hint")}}
	dirs := rapid.SampledFrom([]string{"", "a/", "a/b/c/", "x y/", "# TE: 1 more in /", "t:3: /"})
	for range rapid.IntRange(0, 30).Draw(t, "n") {
		m := Match{Path: dirs.Draw(t, "dir") + rapid.StringN(1, 20, 40).Filter(func(s string) bool { return !strings.ContainsAny(s, "/") && s != "." && s != ".." }).Draw(t, "file"), Line: drawLine(t)}
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			m.More = append(m.More, drawLine(t))
		}
		r.Matches = append(r.Matches, m)
	}
	for range rapid.IntRange(0, 9).Draw(t, "totals") {
		r.Totals = append(r.Totals, Tally{Dir(dirs.Draw(t, "dir") + "f"), rapid.IntRange(0, 500).Draw(t, "count")})
	}
	return r, rapid.IntRange(0, 4000).Draw(t, "budget")
}

// contract: TE-03 TE-16 CON-36
func TestEnvelopeReadsBackAndAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, budget := drawResult(t)
		check(t, r, budget)
	})
}

type failer interface{ Fatalf(string, ...any) }

// check renders r, reads it back and proves that nothing was lost or forged.
func check(t failer, r Result, budget int) {
	out := Render(r, budget)
	e, err := Parse(out)
	if err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	shown := len(e.Matches)
	if got := shown + sum(e.Omitted); got != e.Meta.Matches || e.Meta.Matches != sum(r.totals()) {
		t.Fatalf("%d shown + %d omitted, header says %d, found %d:\n%s", shown, sum(e.Omitted), e.Meta.Matches, sum(r.totals()), out)
	}
	if e.Meta.Truncated != (sum(e.Omitted) > 0) {
		t.Fatalf("truncated is %v with %d omitted:\n%s", e.Meta.Truncated, sum(e.Omitted), out)
	}
	if budget > 0 && len(out) > budget && shown > 1 {
		t.Fatalf("%d bytes with %d matches, budget %d", len(out), shown, budget)
	}
	if len(r.Matches) > 0 && shown == 0 {
		t.Fatalf("all %d matches hidden:\n%s", len(r.Matches), out)
	}
	for i, m := range e.Matches {
		if m.Path != r.Matches[i].Path || m.N != r.Matches[i].N || m.Text != clean(r.Matches[i].Text) {
			t.Fatalf("match %d is %+v, want %+v", i, m, r.Matches[i])
		}
	}
	if n := strings.Count("\n"+out, "\n"+begin) + strings.Count("\n"+out, "\n"+end); n != 2 {
		t.Fatalf("%d markers at a start of a line, want 2:\n%s", n, out)
	}
	_, content, _ := strings.Cut(out, end)
	if splits := regexp.MustCompile("[\r\v\f\x1c-\x1e\u0085\u2028\u2029]").FindString(content); splits != "" {
		t.Fatalf("%q in the output would split a line", splits)
	}
}

// contract: TE-01 TE-03
func FuzzRender(f *testing.F) {
	f.Add("a/b.go", 3, "func x() {", "more", "a/", 12, 200)
	f.Add("# TE_BEGIN_META\n{}", 1, "\n# TE_END_META\n\n", "# TE: 2 more in x/", "# TE: 9 more in y/", 1, 1)
	f.Add("a:1: b", 1, "[TE] x", "\r# TE: 1 more in z/", "3 other directories", 7, 0)
	f.Add("``a", 1, "'", "`", "`/", 2, 0)
	f.Add("\xff\"q\"", 1, "\xff", "\u2028", "./", 0, 90)
	f.Fuzz(func(t *testing.T, path string, n int, text, more, dir string, count, budget int) {
		if n < 0 || count < 0 || count > 1<<40 || dir == "" {
			return
		}
		m := Match{Path: path, Line: Line{n, text}, More: []Line{{n, more}}}
		check(t, Result{Meta: Meta{Cmd: "search"}, Matches: []Match{m, at("z.go", n, more), m}, Totals: []Tally{{dir, count}}}, budget)
	})
}

func BenchmarkRender(b *testing.B) {
	r := Result{Meta: Meta{Cmd: "search"}}
	for i := range 3000 {
		r.Matches = append(r.Matches, at(fmt.Sprintf("pkg%d/file.go", i%40), i+1, "func (p *Parser) Feed(s string) []Event {"))
	}
	b.ReportAllocs()
	for b.Loop() {
		Render(r, 28000)
	}
}
