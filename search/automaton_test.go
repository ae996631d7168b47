package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// byAutomaton is the lines that match, found without needles, and the same said
// by package regexp.
func byAutomaton(q Query, text []byte) (have, want []string, f *finder, err error) {
	p, err := Compile(q)
	if err != nil {
		return nil, nil, nil, err
	}
	p.needles = nil
	p.exact = false
	f = p.finder()
	f.begin(text)
	for at := 0; ; {
		start, end, ok := f.next(text, at)
		if !ok {
			break
		}
		have = append(have, fmt.Sprintf("%d:%q", start, text[start:end]))
		at = end + 1
	}
	pattern := q.Pattern
	if q.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	re := regexp.MustCompile(q.around(pattern))
	at := 0
	for line := range bytes.Lines(text) {
		shown := bytes.TrimSuffix(line, []byte("\n"))
		tried := shown
		if q.CRLF {
			tried = bytes.TrimSuffix(tried, []byte("\r"))
		}
		if re.Match(tried) {
			want = append(want, fmt.Sprintf("%d:%q", at, shown))
		}
		at += len(line)
	}
	return have, want, f, nil
}

// drawPattern draws a regular expression of all that there is in one.
func drawPattern(t *rapid.T, depth int) string {
	atoms := []string{"a", "b", "ab", "é", "日", ".", `\w`, `\W`, `\d`, `\s`, `\S`, `[ab]`, `[^a]`, `[^\x00-\x7F]`, "[é-日]", `\pL`, `\b`, `\B`, "^", "$", `\A`, `\z`, "(?i:k)", "(?i:É)", "\uFFFD", `\x{10FFFF}`, "_", `\r`, `(?m:^a)`, "[^\u0080-\u07ff]"}
	atom := func(label string) string { return rapid.SampledFrom(atoms).Draw(t, label) }
	if depth == 0 {
		return atom("atom")
	}
	sub := func() string { return drawPattern(t, depth-1) }
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return sub() + sub()
	case 1:
		return "(?:" + sub() + "|" + sub() + ")"
	case 2:
		return "(" + sub() + ")" + rapid.SampledFrom([]string{"*", "+", "?", "*?", "{2}", "{1,3}", "{2,}"}).Draw(t, "repeat")
	case 3:
		return atom("first") + sub() + atom("last")
	}
	return sub() + sub() + sub()
}

// Whatever the pattern and the bytes, an automaton takes the lines that package
// regexp takes.
func TestAutomatonTakesWhatTheRegexpTakes(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "b", "ab", "k", "K", "K", "é", "É", "日", "本", "\xe6\x97", "\xff", "\xc3", "\xa9", "�", "\U0010ffff", "\xed\xa0\x80", "\xf0\x9f", "1", "_", " ", "\t", "\r", "\n", "\n", "\r\n", "-"})
	rapid.Check(t, func(t *rapid.T) {
		q := Query{Pattern: drawPattern(t, 3), CRLF: rapid.Bool().Draw(t, "crlf"), IgnoreCase: rapid.Bool().Draw(t, "fold"), Word: rapid.Bool().Draw(t, "word"), Line: rapid.Bool().Draw(t, "line")}
		text := strings.Join(rapid.SliceOfN(words, 0, 40).Draw(t, "text"), "")
		have, want, f, err := byAutomaton(q, []byte(text))
		if err != nil {
			t.Skip(err)
		}
		if f.automaton == nil && !strings.Contains(q.Pattern, `\pL`) {
			t.Fatalf("%q has no automaton", q.Pattern)
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Fatalf("%+v in %q: -want +got\n%s", q, text, d)
		}
	})
}

// Of lines in ASCII, and of those in UTF-8 where no class takes what is not, the
// automaton is sure: package regexp is not asked.
func TestAutomatonIsSure(t *testing.T) {
	for _, c := range []struct {
		pattern, line string
		sure          bool
	}{
		{`\b\w{20,}\b`, "x := abcdefghijklmnopqrstuvwxyz", true},
		{`[A-Z]{3,}_[A-Z]+`, "// größer als MAX_VALUE", true},
		{`\d+\.\d+`, "Größe 3.14", true},
		{`^.+$`, "abc", true},
		{`^.+$`, "größe", false},
		{`\Bb`, "ab", true},
	} {
		_, want, f, err := byAutomaton(Query{Pattern: c.pattern}, []byte(c.line))
		if err != nil || len(want) != 1 {
			t.Fatalf("%s in %q: %v, %v", c.pattern, c.line, want, err)
		}
		f.re = nil // to ask it would panic
		sure := func() (ok bool) {
			defer func() { ok = recover() == nil && ok }()
			_, _, ok = f.next([]byte(c.line), 0)
			return ok
		}()
		if sure != c.sure {
			t.Errorf("%s in %q: sure %v, want %v", c.pattern, c.line, sure, c.sure)
		}
	}
}

// A pattern whose automaton would have 2^18 states finds what it should: the
// automaton gives up when it makes a state for every byte.
func TestAutomatonOfTooManyStates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for i := range 2000 {
		for range 100 {
			text.WriteByte("ab"[r.IntN(2)])
		}
		text.WriteString([]string{"\n", "c\n", " \n"}[i%3])
	}
	have, want, f, err := byAutomaton(Query{Pattern: `a[ab]{17}c`}, []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 100 {
		t.Fatalf("%d lines match, want some", len(want))
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if !f.automaton.done {
		t.Errorf("the automaton goes on with %d states for %d bytes", len(f.automaton.states), f.automaton.read)
	}
}

// An automaton whose table is full forgets its states and goes on.
func TestAutomatonMakesRoom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range 200 {
		var line strings.Builder
		for range 1000 {
			line.WriteByte("ab"[r.IntN(2)])
		}
		text.WriteString(strings.Repeat(line.String()+"\n", 20)) // states are used again
	}
	p, err := Compile(Query{Pattern: `a[ab]{17}c`})
	if err != nil {
		t.Fatal(err)
	}
	a := p.program.automaton()
	emptied, last := 0, 0
	for line := range strings.Lines(text.String() + "aababababababababababc\n") {
		start, _ := a.find([]byte(line), 0)
		if have, want := start < len(line), strings.Contains(line, "c"); have != want || a.done {
			t.Fatalf("%.20q: found %v, want %v; done %v after %d bytes", line, have, want, a.done, a.read)
		}
		if n := max(len(a.next), a.held); n > maxEntries+len(a.nodes) {
			t.Fatalf("the states take %d entries, want at most %d", n, maxEntries)
		}
		if a.held < last {
			emptied++
		}
		last = a.held
	}
	if emptied == 0 {
		t.Errorf("never emptied with %d entries held", last)
	}
}

func FuzzAutomaton(f *testing.F) {
	f.Add(`\b\w{3,}\b`, []byte("ab abc\n\xff日本 x_y\r\n"), true)
	f.Add(`(?i)(é|k+)$`, []byte("K\nÉ"), false)
	f.Fuzz(func(t *testing.T, pattern string, text []byte, crlf bool) {
		if len(pattern) > 200 || strings.Contains(pattern, "\n") {
			return
		}
		have, want, _, err := byAutomaton(Query{Pattern: pattern, CRLF: crlf}, text)
		if err != nil {
			return
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%q in %q: -want +got\n%s", pattern, text, d)
		}
	})
}
