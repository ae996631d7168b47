package screen_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/screen"
)

func Example() {
	s := screen.New(10, 4)
	fmt.Fprint(s, "one two three\r\n\x1b[1mbold\x1b[0m \x1b]52;c;eA==\a")
	fmt.Print(s.Styled())
	fmt.Println(s.Strange())
	s.Resize(5, 4)
	fmt.Print(s)
	// Output:
	// one two th
	// ree
	// ‹1›bold‹›
	// ["\x1b]52;c;eA==\a"]
	// one t
	// wo th
	// ree
	// bold
}

func TestMovesAndErases(t *testing.T) {
	for print, want := range map[string]string{
		"abc\rX":                     "Xbc\n",
		"one\r\ntwo\x1b[1A\rX\x1b[K": "X\ntwo\n",
		"one\r\ntwo\x1b[1A\r\x1b[J":  "\n",
		"日本語日本語":                     "日本語日本\n語\n", // a wide one never hangs over
		"e\u0301x":                   "e\u0301x\n",
		"a\r\nb\x1b[2J\x1b[Hc":       "a\nb\nc\n",
	} {
		s := screen.New(10, 2)
		for i := range len(print) { // each byte by itself
			s.Write([]byte{print[i]})
		}
		if got := s.String(); got != want {
			t.Errorf("%q: %q, want %q", print, got, want)
		}
		if got := s.Strange(); len(got) > 0 {
			t.Errorf("%q: strange %v", print, got)
		}
	}
}

func TestCursorStaysWithItsText(t *testing.T) {
	s := screen.New(20, 5)
	fmt.Fprint(s, "first line\r\n0123456789abcdef")
	s.Resize(8, 5)
	row, column := s.Cursor()
	if got, want := [2]int{row, column}, [2]int{3, 8}; !reflect.DeepEqual(got, want) {
		t.Errorf("cursor at %v, want %v:\n%s", got, want, s)
	}
}
