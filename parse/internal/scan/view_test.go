package scan

import "testing"

// Blanks are those of ASCII, the tokenizers' and an escaped new line; half of one
// at the end of what has arrived may become one.
func TestBlanks(t *testing.T) {
	for text, want := range map[string]struct {
		n    int
		open bool
	}{
		"": {0, true}, "x": {0, false}, " \t\r\nx": {4, false}, " ": {1, true}, "\u0120\u010ax": {4, false}, "\u0120": {2, true}, "\xC4": {0, true}, "\xC4x": {0, false}, "\u0121": {0, false}, " \xC4": {1, true}, "\xA0": {0, false},
		`\nx`: {2, false}, `\n`: {2, true}, `\`: {0, true}, `\t`: {0, false}, `\n\`: {2, true}, "\v": {0, false},
	} {
		if n, open := Skip(text); n != want.n || open != want.open {
			t.Errorf("%q: %d %v, want %+v", text, n, open, want)
		}
		for _, end := range []bool{false, true} {
			work, rest := 0, text[want.n:]
			if want.open && !end {
				rest = ""
			}
			if n, v := ViewOf(text, end, &work).Blanks(); n != want.n || v.S != rest || v.End != end || work != n {
				t.Errorf("%q, its end %v: %d, then %q; %d bytes looked at", text, end, n, v.S, work)
			}
		}
	}
}

func TestWord(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "az_AZ-09 x": 8, ".a": 0, ":a": 0, "/a": 0, `\_a`: 0, "a.b:c/d e": 7, `a\_b c`: 4, `a\b`: 1, `a\`: 2, "a`": 1, "a{": 1, "a@": 1, "a[": 1, "a;": 1, "é": 0,
	} {
		if n := Word(text); n != want {
			t.Errorf("%q: %d, want %d", text, n, want)
		}
	}
	for c, want := range map[byte]bool{'a': true, 'z': true, 'A': true, 'Z': true, '@': false, '[': false, '`': false, '{': false, '0': false, 0xC1: false} {
		if IsASCIILetter(c) != want || IsLetter(rune(c)) != (want || c == 0xC1) {
			t.Errorf("%q", c)
		}
	}
	for _, c := range []byte("@[`{aAzZ09") {
		low, up := c, c
		if IsASCIILetter(c) {
			low, up = c|0x20, c&^0x20
		}
		if Lower(c) != low || Upper(c) != up {
			t.Errorf("%q: %q %q", c, Lower(c), Upper(c))
		}
	}
}
