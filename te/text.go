package te

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// numbered is what stands between the path and the text of a line of content.
var numbered = regexp.MustCompile(`(:[0-9]+: |-[0-9]+- )`)

// heading is what could make a path pass for a numbered line, or a line that
// begins with it for the heading of a file.
var heading = regexp.MustCompile(`^[0-9]+([:-] |$)|: |:$`)

// Quote writes a path that could be mistaken for a part of an envelope, or for
// several lines, as a Go string.
func Quote(path string) string {
	plain := path != "" && !strings.ContainsAny(path[:1], "\"#[ ") && !strings.HasSuffix(path, " ") &&
		utf8.ValidString(path) && strings.IndexFunc(path, hidden) < 0 && !strings.Contains(path, "\t") &&
		!numbered.MatchString(path) && !heading.MatchString(path)
	if plain {
		return path
	}
	return strconv.Quote(path)
}

// clean makes one harmless line of a text: what a terminal or a splitter of
// lines would act on is written as its escape, and a long text is cut.
func clean(s string) string {
	s = strings.TrimRight(s, "\r\n")
	long := len(s) > maxText
	if long {
		s = strings.TrimRightFunc(s[:maxText], func(r rune) bool { return r == utf8.RuneError })
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexFunc(s, hidden) >= 0 {
		s = escape(s)
	}
	if long {
		s += "…"
	}
	return s
}

func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hidden reports control characters other than the tab, line separators, and
// marks that turn the direction of the text.
func hidden(r rune) bool {
	switch {
	case r == '\t':
		return false
	case r == '\u2028', r == '\u2029', r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return unicode.IsControl(r)
}
