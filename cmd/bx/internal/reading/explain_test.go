package reading_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/envelope"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

func anyReply() reading.Options {
	return reading.Options{Replies: func(tools []utp.Tool) reading.Replies { return envelope.New(tools) }}
}

func explained(e *reading.Explained) string {
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

func TestExplain(t *testing.T) {
	golden.Run(t, "testdata/explain/*.txtar", func(t *testing.T, c *golden.Case) {
		o := anyReply()
		o.Cut = c.Get("cut") != ""
		if tools := c.Get("tools"); tools != "" {
			list, err := reading.ParseTools([]byte(tools))
			if err != nil {
				t.Fatal(err)
			}
			o.Tools = list
		}
		e, err := reading.Explain(o, c.Get("in"))
		if err != nil {
			t.Fatal(err)
		}
		c.Want(t, "explained", explained(e))
	})
}

// Of every case of every grammar each character stands in one span, and what is
// decided never goes back and never runs ahead of what has arrived.
func TestSpansTileEveryText(t *testing.T) {
	files, err := filepath.Glob("../../../../grammar/testdata/*/*.txtar")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d cases of grammars: %v", len(files), err)
	}
	for i, file := range files {
		if testing.Short() && i%10 > 0 {
			continue
		}
		c, err := golden.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		in := c.Get("in")
		e, err := reading.Explain(anyReply(), in)
		if err != nil {
			t.Errorf("%s: %v", file, err)
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
