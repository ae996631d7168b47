package scan

import "testing"

// Every place where a literal may begin is found, wherever the text ends and from
// wherever it is looked for: in any case, and within a word only where no letter
// begins it.
func TestStartsMissNothing(t *testing.T) {
	literals := []string{"<tool", "assistant", "to=", "[", "~~", "▁", "\n"}
	var starts Starts
	for _, lit := range literals {
		starts.Add(lit)
	}
	begins := func(s string, i int) bool {
		for _, lit := range literals {
			two := min(2, len(lit), len(s)-i)
			if _, f := MatchLiteral(s[i:], lit[:two]); f == Yes && !(i > 0 && IsASCIILetter(s[i]) && IsASCIILetter(s[i-1])) {
				return true
			}
		}
		return false
	}
	const text = "As A class has [x] to go.\nTO=3 <Tool ▁ ~~ last <3 a~b tat"
	found := 0
	for end := range len(text) + 1 {
		s := text[:end]
		for from := range end {
			want := from
			for want < end && !begins(s, want) {
				want++
			}
			if got := starts.Next(s, from, '.'); got != want {
				t.Fatalf("%q from %d: %d, want %d", s, from, got, want)
			} else if got < end {
				found++
			}
		}
	}
	if found == 0 {
		t.Error("no literal begins anywhere")
	}
	if starts.Next("as", 0, 'b') != 2 || starts.Next("as", 0, ' ') != 0 {
		t.Error("the byte before the text does not count")
	}
	if !starts.Begin('T', 'o') || starts.Begin('t', 'a') || !starts.Has('[') || starts.Has('x') {
		t.Error("the first two bytes of a literal are not known by themselves")
	}
}
