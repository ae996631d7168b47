package body

import (
	"html"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

const cdataOpen, cdataEnd = "<![CDATA[", "]]>"

// Markup finds an entity or the edge of a CDATA section.
func Markup(v scan.View, inside bool) (n int, f scan.Found) {
	want := cdataOpen
	if inside {
		want = cdataEnd
	} else if v.S[0] == '&' {
		return entity(v)
	}
	if n, f = scan.MatchLiteral(v.S, want); f == scan.More {
		f = v.Ask()
	}
	return n, f
}

// entity is the length of the entity that v begins with.
func entity(v scan.View) (int, scan.Found) {
	const longestEntity = 12
	s := v.S[1:]
	n := scan.Word(strings.TrimPrefix(s, "#")) + len(s) - len(strings.TrimPrefix(s, "#"))
	switch {
	case n > longestEntity:
		return 0, scan.No
	case n == len(s):
		return 0, v.Ask()
	case s[n] == ';' && html.UnescapeString(v.S[:n+2]) != v.S[:n+2]:
		return n + 2, scan.Yes
	}
	return 0, scan.No
}

// HasNewline reports whether a line ends in s.
func HasNewline(s string) bool {
	for i := range len(s) {
		if s[i] == '\n' {
			return true
		}
	}
	return false
}

// IsPlaceholder reports whether a text stands for a value that somebody is to fill
// in: <your city>, {{city}}, your_city_here, "...". Tags of a markup are none.
func IsPlaceholder(key, text string) bool {
	switch {
	case text == "..." || text == "…":
		return true
	case strings.HasPrefix(text, "{{") && strings.HasSuffix(text, "}}"):
		return !strings.ContainsAny(text[2:len(text)-2], "{}")
	case text[0] == '<' && text[len(text)-1] == '>':
		inner := text[1 : len(text)-1]
		words := inner != "" && strings.Trim(inner, " ") == inner && !strings.ContainsAny(inner, "<>=/\\\"&|!?:;#.")
		return words && (strings.Contains(inner, " ") || strings.EqualFold(inner, key) || strings.HasPrefix(strings.ToLower(inner), "your_"))
	}
	lower := strings.ToLower(text)
	return strings.HasPrefix(lower, "your_") && strings.HasSuffix(lower, "_here") || strings.HasPrefix(lower, "your-") && strings.HasSuffix(lower, "-here")
}

// Nothing finds a word for no arguments that is all of its line.
func Nothing(v scan.View) (int, scan.Found) {
	for _, word := range []string{"none", "null", "n/a", "nothing", "empty", "no input", "(none)"} {
		n, f := scan.MatchLiteral(v.S, word)
		if f == scan.More && v.Ask() == scan.More {
			return 0, scan.More
		}
		if f == scan.Yes {
			if f = LineEnd(v.From(n)); f != scan.No {
				return n, f
			}
		}
	}
	return 0, scan.No
}

// IsPair reports whether a text begins with one of the keys and "=", ":" or "(".
func IsPair(keys []string, v scan.View) (ok bool, f scan.Found) {
	n := 0
	for n < len(v.S) && scan.IsNameByte(v.S[n]) {
		n++
	}
	_, rest := v.From(n).Blanks()
	if rest.S == "" {
		return false, rest.Ask()
	}
	return strings.IndexByte("=:(", rest.S[0]) >= 0 && slices.Contains(keys, v.S[:n]), scan.Yes
}

// LineEnd reports whether nothing but blanks stands on the rest of the line.
func LineEnd(v scan.View) scan.Found {
	rest := strings.TrimLeft(v.S, " \t\r")
	switch {
	case rest == "" && v.End:
		return scan.Yes
	case rest == "":
		return v.Ask()
	case rest[0] == '\n':
		return scan.Yes
	}
	return scan.No
}

// MayBeJSON reports whether a value of which no type is known begins like a
// number, true, false, null, an object or a list.
func MayBeJSON(v scan.View) scan.Found {
	_, v = v.Blanks()
	if v.S == "" {
		return v.Ask()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		switch {
		case strings.HasPrefix(v.S, word):
			return scan.Yes
		case strings.HasPrefix(word, v.S):
			return v.Ask()
		}
	}
	if c := v.S[0]; c == '{' || c == '[' || c == '-' || '0' <= c && c <= '9' {
		return scan.Yes
	}
	return scan.No
}

// LineBreak is the length of the line end that v begins with.
func LineBreak(v scan.View) (int, scan.Found) {
	switch {
	case v.S == "":
		return 0, v.Ask()
	case v.S[0] == '\n':
		return 1, scan.Yes
	case v.S[0] != '\r':
		return 0, scan.No
	case len(v.S) == 1:
		return 0, v.Ask()
	case v.S[1] == '\n':
		return 2, scan.Yes
	}
	return 0, scan.No
}

// RawBegins is the length of what opens a value that is taken word for word, the
// end of its line included.
func RawBegins(openers []scan.Marker, v scan.View) (int, scan.Found) {
	blanks, inner := v.Blanks()
	n, f := scan.Longest(openers, inner, nil)
	if f != scan.Yes {
		return 0, f
	}
	line, f := LineBreak(inner.From(n))
	if f == scan.More {
		return 0, scan.More
	}
	return blanks + n + line, scan.Yes
}
