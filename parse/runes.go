package parse

import (
	"strings"
	"unicode/utf8"
)

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
