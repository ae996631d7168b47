package cells_test

import (
	"fmt"
	"testing"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
)

func Example() {
	fmt.Println(cells.Width("日本語"), cells.Cut("日本語 text", 6))
	fmt.Println(cells.Clean("red \x1b[31m, not red"))
	fmt.Println(cells.Wrap("  indented words that go on", 16))
	// Output:
	// 6 日本…
	// red \u001b[31m, not red
	//   indented words
	//   that go on
}

// What is cut never takes more columns than there are, in any script.
func TestCutByColumns(t *testing.T) {
	for _, s := range []string{"plain words", "日本語のテキスト", "👩\u200d👩\u200d👧 family 🏳️\u200d🌈", "e\u0301e\u0301e\u0301e\u0301", "नमस्ते दुनिया", "\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7"} {
		for columns := 3; columns < 20; columns++ {
			cut := cells.Cut(s, columns)
			if w := cells.Width(cut); w > columns {
				t.Errorf("%q at %d: %q takes %d", s, columns, cut, w)
			}
			if cells.Width(s) <= columns && cut != s {
				t.Errorf("%q at %d: cut to %q without need", s, columns, cut)
			}
		}
		for rest := s; rest != ""; {
			head, tail := cells.Split(rest, 1)
			if head == "" || head+tail != rest {
				t.Fatalf("%q split into %q and %q", rest, head, tail)
			}
			rest = tail
		}
	}
}

// Nothing that a model or a file can write reaches the terminal as an order, and
// nothing can be hidden.
func TestNothingDrivesTheTerminal(t *testing.T) {
	for s, want := range map[string]string{
		"\x1b]52;c;ZXZpbA==\a": `\u001b]52;c;ZXZpbA==\u0007`, // the clipboard
		"\x1b[2J\x1b[H":        `\u001b[2J\u001b[H`,
		"\u009b31m":            `\u009b31m`, // CSI of one character
		"\x9b31m":              `\x9b31m`,   // and as a byte
		"a\rb\bc":              `a\u000db\u0008c`,
		"x\u202egnp.exe":       `x\u202egnp.exe`,
		"pay\u200bload":        `pay\u200bload`,
		"\U000e0041\U000e0042": `\U000e0041\U000e0042`, // letters without a form
		"a\u2028b":             `a\u2028b`,
		"한글\t日本\n👩\u200d👧 می\u200cخواهم": "한글\t日本\n👩\u200d👧 می\u200cخواهم",
		"\uFFFD": "\uFFFD",
	} {
		if got := cells.Clean(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
