package te

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func hit(n int, text string, rank int) Hit { return Hit{Line: Line{n, text}, Rank: rank} }

// contract: TE-04 TE-16
func TestPreviewGroupsByFileAndPutsDefinitionsFirst(t *testing.T) {
	s := Search{Meta: Meta{Cmd: "grep"}, Least: 2, Groups: []Group{
		{Path: "a/use.go", Count: 4, Lines: []Hit{hit(1, "Feed(1)", 3), hit(5, "Feed(2)", 3), hit(6, "Feed(3)", 3), hit(7, "Feed(4)", 3)}},
		{Path: "a/use_test.go", Count: 1, Test: true, Lines: []Hit{hit(3, "func TestFeed()", 1)}},
		{Path: "b/def.go", Count: 3, Lines: []Hit{hit(2, "// Feed it", 3), hit(3, "func Feed() {", 0), hit(9, "Feed(5)", 3)}},
		{Path: "c/one.go", Count: 1, Lines: []Hit{hit(8, "x.Feed()", 3)}},
	}}
	whole := "# TE_BEGIN_META\n" + `{"v":1,"cmd":"grep","matches":9,"files":4,"hot_zone":"a/ (55%)","content_type":"code/go"}` + "\n# TE_END_META\n\n" +
		"a/use.go:\n1: Feed(1)\n5: Feed(2)\n6: Feed(3)\n7: Feed(4)\na/use_test.go:3: func TestFeed()\nb/def.go:\n2: // Feed it\n3: func Feed() {\n9: Feed(5)\nc/one.go:8: x.Feed()\n"
	if d := cmp.Diff(whole, Preview(s, 0)); d != "" {
		t.Error(d)
	}
	for n := range 30 {
		s.Groups[0].Lines = append(s.Groups[0].Lines, hit(10+n, "Feed(again)", 3))
		s.Groups[0].Count++
	}
	s.Meta.Handle = "res_0123456789ab"
	cut := "# TE_BEGIN_META\n" + `{"v":1,"cmd":"grep","matches":39,"files":4,"truncated":true,"handle":"res_0123456789ab","hot_zone":"a/ (89%)","content_type":"code/go"}` +
		"\n# TE_END_META\n\nb/def.go: 2 of 3\n2: // Feed it\n3: func Feed() {\na/use.go: 2 of 34\n1: Feed(1)\n5: Feed(2)\nc/one.go:8: x.Feed()\n" +
		"a/use_test.go:3: func TestFeed()\n\n# TE: 32 more in a/\n# TE: 1 more in b/\n"
	if d := cmp.Diff(cut, Preview(s, len(cut)+150)); d != "" {
		t.Error(d)
	}
	if got := Preview(s, 1); !strings.Contains(got, "b/def.go: 1 of 3\n3: func Feed() {\n\n# TE: 35 more in a/\n") {
		t.Errorf("got %s, want the definition alone", got)
	}
}

// contract: TE-03 TE-16 CON-36
func TestPreviewReadsBackAndAddsUp(t *testing.T) {
	names := rapid.SampledFrom([]string{"f", "12", "12: f", "a: 3 of 4", "f:", "a:3: b", "7- x", " f", "# TE: 1 more in x", "\"", "ü"})
	rapid.Check(t, func(t *rapid.T) {
		s := Search{Meta: Meta{Cmd: "grep"}, Least: rapid.IntRange(1, 4).Draw(t, "least")}
		want := map[string]int{}
		for i := range rapid.IntRange(1, 8).Draw(t, "groups") {
			g := Group{Path: strings.Repeat("d/", i) + names.Draw(t, "name"), Test: rapid.Bool().Draw(t, "test")}
			for n := range rapid.IntRange(1, 6).Draw(t, "lines") {
				l := drawLine(t)
				g.Lines = append(g.Lines, Hit{Line{n*10 + 1, l.Text}, rapid.IntRange(0, 3).Draw(t, "rank"), n > 0 && rapid.Bool().Draw(t, "context")})
			}
			g.Count = g.matches() + rapid.IntRange(0, 2).Draw(t, "more")
			want[g.Path] = g.Count
			s.Groups = append(s.Groups, g)
		}
		budget := rapid.IntRange(0, 3000).Draw(t, "budget")
		out := Preview(s, budget)
		e, err := Parse(out)
		if err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		all := 0
		for _, n := range want {
			all += n
		}
		if len(e.Matches)+sum(e.Omitted) != all || e.Meta.Matches != all || e.Meta.Files != len(want) {
			t.Fatalf("%d shown and %d more, want %d in %d files:\n%s", len(e.Matches), sum(e.Omitted), all, len(want), out)
		}
		around := out != Preview(s, 0) && slices.ContainsFunc(s.Groups, Group.hasContext)
		if len(e.Matches) == 0 || e.Meta.Truncated != (sum(e.Omitted) > 0 || around) {
			t.Fatalf("no match, or a wrong truncated:\n%s", out)
		}
		for _, c := range e.Counts {
			if want[c.Dir] != c.N {
				t.Fatalf("%s has %d matches, want %d:\n%s", c.Dir, c.N, want[c.Dir], out)
			}
		}
		for _, m := range e.Matches {
			if _, ok := want[m.Path]; !ok {
				t.Fatalf("a match in %q, which is no file:\n%s", m.Path, out)
			}
		}
		if len(e.Matches) > 1 && budget > 0 && len(out) > budget {
			t.Fatalf("%d bytes, budget %d:\n%s", len(out), budget, out)
		}
	})
}

// contract: A-17
func TestExcerptHasBothEndsAndWhatIsOfInterest(t *testing.T) {
	lines := strings.Split(strings.Repeat("ok  \tsome/package\t0.01s\n", 200), "\n")[:200]
	lines[0], lines[100], lines[150], lines[199] = "first", "FAIL here", "# TE: 3 more in x/", "last"
	text := strings.Join(lines, "\n") + "\n"
	got := Excerpt(Meta{Cmd: "run", Handle: "res_0123456789ab"}, text, []int{100, 150}, 1000)
	if len(got) > 1000 {
		t.Errorf("%d bytes, want at most 1000", len(got))
	}
	for _, want := range []string{`"lines":200,"size":4744,"truncated":true,"handle":"res_0123456789ab"`, "\nfirst\n", "\nok  \tsome/package\t0.01s\nFAIL here\nok  \t", "\n\\# TE: 3 more in x/\n", "\nlast\n", "\n# TE: lines "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if _, err := Parse(got[:strings.Index(got, end)+len(end)+1]); err != nil {
		t.Error(err)
	}
}

// The lines that are shown and those that are left out are all lines.
func TestExcerptAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "lines")
		interest := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 5).Draw(t, "interest")
		text := strings.Repeat("line\n", n)
		_, body, _ := strings.Cut(Excerpt(Meta{Cmd: "run"}, text, interest, rapid.IntRange(0, 2000).Draw(t, "budget")), end+"\n")
		at := 0
		for l := range strings.Lines(body) {
			if l == "line\n" {
				at++
				continue
			}
			var from, to int
			spec := strings.TrimSuffix(strings.TrimPrefix(l, crumb), " left out\n")
			if a, b, ok := strings.Cut(strings.TrimPrefix(spec, "lines "), "-"); ok {
				from, to = number(t, a), number(t, b)
			} else {
				from = number(t, strings.TrimPrefix(spec, "line "))
				to = from
			}
			if from != at+1 || to < from {
				t.Fatalf("%q after line %d", l, at)
			}
			at = to
		}
		if at != n {
			t.Fatalf("%d lines accounted for, want %d:\n%s", at, n, body)
		}
	})
}

func number(t *rapid.T, s string) (n int) {
	for _, c := range s {
		if c < '0' || c > '9' {
			t.Fatalf("%q is no number", s)
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// contract: TE-08
func TestChunksAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\né日"))).Draw(t, "text")
		size := rapid.IntRange(4, 30).Draw(t, "size")
		_, of := Chunk(text, size, 1)
		var all strings.Builder
		for n := 1; n <= of; n++ {
			c, again := Chunk(text, size, n)
			if len(c) > size || again != of || c == "" && text != "" {
				t.Fatalf("chunk %d of %d (%d) is %q, want at most %d bytes", n, of, again, c, size)
			}
			all.WriteString(c)
		}
		if all.String() != text {
			t.Fatalf("%q, want %q", all.String(), text)
		}
		if c, _ := Chunk(text, size, of+1); c != "" {
			t.Fatalf("chunk %d of %d is %q", of+1, of, c)
		}
	})
}
