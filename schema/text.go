package schema

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much of a value an Issue and a Fix repeat, in bytes.
const (
	maxShown = 60
	maxFix   = 200
)

// shorten cuts s to max bytes, on a character's edge.
func shorten(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max] + "…"
}

func lower(s string) string { return strings.ToLower(s) }

// fold gives what two spellings of one name have in common: letters and
// digits in lower case, without what stands between words.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_-./: \t\n", r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

func foldNames(names map[string]bool) map[string][]string {
	out := map[string][]string{}
	for name := range names {
		f := fold(name)
		out[f] = append(out[f], name)
	}
	return out
}

// near finds the only name whose fold is that of name.
func near(folded map[string][]string, name string) (string, bool) {
	f := fold(name)
	if f == "" {
		return "", false
	}
	hits := folded[f]
	if len(hits) > 1 { // then case alone must decide
		hits = slices.DeleteFunc(slices.Clone(hits), func(s string) bool { return !strings.EqualFold(s, name) })
	}
	if len(hits) != 1 {
		return "", false
	}
	return hits[0], true
}

// escape writes a key as a step of a JSON pointer.
func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
