package dash_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// read asks for a text as the page does.
func read(t *testing.T, b *browser, ask map[string]any) (*dash.Explained, string) {
	t.Helper()
	body, err := json.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	r := b.ask("POST", "/ui/read", string(body))
	got := text(t, r)
	if r.StatusCode != http.StatusOK {
		return nil, got
	}
	var e dash.Explained
	if err := json.Unmarshal([]byte(got), &e); err != nil {
		t.Fatal(err)
	}
	return &e, got
}

func operatorOf(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t, d: dash.New(config())}
	b.signIn(`{"key":"` + operator + `"}`)
	return b
}

func transcript(e *dash.Explained) string {
	var out strings.Builder
	for _, f := range e.Fields {
		fmt.Fprintf(&out, "field %q of %d\n", f.In, f.Length)
		for _, s := range f.Spans {
			of := ""
			if s.Call != nil {
				of = fmt.Sprintf(" call %d", *s.Call)
			}
			if s.Problem != nil {
				of = fmt.Sprintf(" problem %d", *s.Problem)
			}
			fmt.Fprintf(&out, "  %s%s %q%s\n", s.Kind, of, s.Text, s.Why)
		}
	}
	for i, c := range e.Calls {
		fmt.Fprintf(&out, "call %d %s by %s, %s, known from %d to %d: %s\n", i, c.Name, c.Grammar, c.Status, c.Began, c.Ended, c.Arguments)
		for _, f := range c.Fixes {
			fmt.Fprintf(&out, "  fix %s: %q → %q at %q\n", f.Why, f.Was, f.Now, f.Path)
		}
		for _, s := range c.Issues {
			fmt.Fprintf(&out, "  issue %s\n", s.Message)
		}
	}
	for i, p := range e.Problems {
		fmt.Fprintf(&out, "problem %d %s %s: %s\n", i, p.Kind, p.Name, p.Message)
	}
	return out.String()
}

func TestRead(t *testing.T) {
	golden.Run(t, "testdata/read/*.txtar", func(t *testing.T, c *golden.Case) {
		e, said := read(t, operatorOf(t), map[string]any{"text": c.Get("in"), "tools": c.Get("tools"), "cut": c.Get("cut") != ""})
		if e == nil {
			c.Want(t, "read", said)
			return
		}
		c.Want(t, "read", transcript(e))
	})
}

// Of every case of every grammar each character stands in one span, and what is
// decided never goes back and never runs ahead of what has arrived.
func TestSpansTileEveryText(t *testing.T) {
	files, err := filepath.Glob("../../../../grammar/testdata/*/*.txtar")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d cases of grammars: %v", len(files), err)
	}
	b := operatorOf(t)
	for i, file := range files {
		if testing.Short() && i%10 > 0 {
			continue
		}
		c, err := golden.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		in := c.Get("in")
		e, said := read(t, b, map[string]any{"text": in})
		if e == nil {
			t.Errorf("%s: %s", file, said)
			continue
		}
		var joined strings.Builder
		for _, f := range e.Fields {
			last := [2]int{}
			for _, s := range f.Steps {
				if s[0] < last[0] || s[1] < last[1] || s[1] > s[0] {
					t.Errorf("%s: step %v behind %v", file, s, last)
				}
				last = s
			}
			if f.Length > 0 && last != [2]int{f.Length, f.Length} {
				t.Errorf("%s: the last step is %v of %d", file, last, f.Length)
			}
			for _, s := range f.Spans {
				joined.WriteString(s.Text)
			}
			if n := len(utf16.Encode([]rune(joined.String()))); n != f.Length {
				t.Errorf("%s: %d units, want %d", file, n, f.Length)
			}
		}
		if want := strings.ToValidUTF8(in, "\ufffd"); len(e.Fields) <= 1 && joined.String() != want && !strings.Contains(in, "\"choices\"") {
			t.Errorf("%s: the spans are\n%q, want\n%q", file, joined.String(), want)
		}
		for _, c := range e.Calls {
			if c.Place != nil && (c.Began < 0 || c.Ended < c.Began) {
				t.Errorf("%s: a call known from %d to %d", file, c.Began, c.Ended)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	b := operatorOf(t)
	for name, of := range map[string]struct{ body, want string }{
		"too long": {`{"text":"` + strings.Repeat("x", 256<<10+1) + `"}`, "the text has 262145 bytes"},
		"no tools": {`{"text":"x","tools":"{"}`, "tools"},
		"no JSON":  {`{`, "this is no JSON of a request"},
		"too much": {`{"text":"` + strings.Repeat("x", 2<<20) + `"}`, "too large"},
	} {
		if got := text(t, b.ask("POST", "/ui/read", of.body)); !strings.Contains(got, of.want) {
			t.Errorf("%s: %s, want %s", name, got, of.want)
		}
	}
}
