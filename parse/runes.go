package parse

import (
	"strings"
	"unicode/utf8"
)

// wholeRunes is how much of src can be taken without cutting a character in
// two that the next Feed completes.
func (p *Parser) wholeRunes() int {
	if p.end {
		return len(p.src)
	}
	return max(len(p.src)-halfRune(p.src), p.pos)
}

// halfRune is the length of the unfinished character that s ends in.
func halfRune(s string) int {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if b := s[len(s)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// valid is s with each byte that is no UTF-8 replaced by U+FFFD, one by one, so
// that the result does not depend on where s was cut.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}
