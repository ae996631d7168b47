package markdown_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/markdown"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/internal/screen"
)

func Example() {
	var out strings.Builder
	w := markdown.Writer{Out: &out, Columns: func() int { return 24 }}
	for _, word := range strings.SplitAfter("- a **list** whose words are broken at 24 columns", " ") {
		fmt.Fprint(&w, word)
	}
	_ = w.Reset()
	fmt.Print(styles.ReplaceAllString(out.String(), ""))
	// Output:
	// • a list whose words are
	//   broken at 24 columns
}

// render prints pieces at a width.
func render(columns int, pieces ...string) string {
	var out strings.Builder
	w := markdown.Writer{Out: &out, Columns: func() int { return columns }}
	for _, p := range pieces {
		fmt.Fprint(&w, p)
	}
	_ = w.Reset()
	return out.String()
}

// Each case looks as it should at 40 and at 120 columns, with its styles.
func TestScreens(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		for _, columns := range []int{40, 120} {
			s := screen.New(columns, 1000)
			fmt.Fprint(s, strings.ReplaceAll(render(columns, c.Get("in")), "\n", "\r\n"))
			c.Want(t, fmt.Sprint(columns), s.Styled())
			if strange := s.Strange(); len(strange) > 0 {
				t.Errorf("strange sequences: %v", strange)
			}
		}
	})
}

// However a text is cut into pieces, the same is printed.
func TestEveryCut(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		text := c.Get("in")
		for _, columns := range []int{20, 80} {
			whole := render(columns, text)
			for i := range text {
				if got := render(columns, text[:i], text[i:]); got != whole {
					t.Fatalf("cut at %d (%q|%q):\ngot  %q\nwant %q", i, text[max(i-20, 0):i], text[i:min(i+20, len(text))], got, whole)
				}
			}
			if got := render(columns, strings.Split(text, "")...); got != whole {
				t.Errorf("rune by rune:\ngot  %q\nwant %q", got, whole)
			}
		}
	})
}

var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// No row is wider than the terminal, where its words are not.
func TestRowsFit(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		for _, columns := range []int{30, 64} {
			fenced := false
			for row := range strings.Lines(render(columns, c.Get("in"))) {
				row = strings.TrimRight(styles.ReplaceAllString(row, ""), "\n")
				if strings.Contains(row, "```") || strings.Contains(row, "~~~") {
					fenced = !fenced
				}
				if !fenced && cells.Width(row) > columns && len(strings.Fields(row)) > 1 {
					t.Errorf("at %d: %q takes %d", columns, row, cells.Width(row))
				}
			}
		}
	})
}

// Words are shown when they are whole, not at the end of their line.
func TestWordsComeAtOnce(t *testing.T) {
	var out strings.Builder
	w := markdown.Writer{Out: &out, Columns: func() int { return 80 }}
	for _, step := range []struct{ write, want string }{
		{"The ", "The"}, {"answ", "The"}, {"er is ", "The answer is"}, {"**no", "The answer is"}, {"t** ", "The answer is not"},
		{"2 * 3", "The answer is not 2 *"}, {" but\n", "The answer is not 2 * 3 but\n"},
	} {
		fmt.Fprint(&w, step.write)
		if got := styles.ReplaceAllString(out.String(), ""); got != step.want {
			t.Errorf("after %q: %q, want %q", step.write, got, step.want)
		}
	}
}
