package index

import (
	"slices"
	"strings"
	"unicode"
)

// maxWord is the longest word kept, in bytes: longer ones are data.
const maxWord = 64

// each gives the words of a text in order: identifiers in lower case, whole
// (without underscores) and, where they have parts, in their parts.
func each(s string, yield func(string)) {
	identifiers(s, func(name string) { identifier(name, yield) })
}

// identifiers gives the identifiers of a text in order, as they are written.
func identifiers(s string, yield func(string)) {
	for s != "" {
		n := strings.IndexFunc(s, inWord)
		if n < 0 {
			return
		}
		s = s[n:]
		if n = strings.IndexFunc(s, func(r rune) bool { return !inWord(r) }); n < 0 {
			n = len(s)
		}
		if n <= maxWord {
			yield(s[:n])
		}
		s = s[n:]
	}
}

func inWord(r rune) bool {
	if r < 0x80 {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func identifier(s string, yield func(string)) {
	var room [8]string
	parts := partsOf(s, room[:0])
	if len(parts) > 1 {
		yield(strings.ToLower(strings.ReplaceAll(s, "_", "")))
	}
	for _, p := range parts {
		yield(strings.ToLower(p))
	}
}

// partsOf appends the parts of an identifier, which underscores and humps end:
// HTTPServer_v2 is HTTP, Server, v2.
func partsOf(s string, parts []string) []string {
	start := 0
	var before rune
	for i, r := range s {
		hump := unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before) || unicode.IsUpper(before) && lowerNext(s[i:]))
		if i > start && (r == '_' || hump) {
			parts = appendPart(parts, s[start:i])
			start = i
		}
		before = r
	}
	return appendPart(parts, s[start:])
}

func appendPart(parts []string, p string) []string {
	if p = strings.Trim(p, "_"); p != "" {
		parts = append(parts, p)
	}
	return parts
}

// lowerNext reports whether the second letter of s is lower case.
func lowerNext(s string) bool {
	for i, r := range s {
		if i > 0 {
			return unicode.IsLower(r)
		}
	}
	return false
}

// stop are words of questions that say nothing about what is asked.
var stop = strings.Fields(`a an and any are as at be been being but by can code codebase could did do does doing done
	find for from get gets give had has have how i if in into is it its let list look looking me my of on or our please
	project repo repository s search should show so some tell than that the their them then there these they this those
	to us use used uses using was we were what when where which while who whose why will with would you your`)

// Terms are the words of a question that a search is about: those of each,
// each once, without stop words unless there is nothing else.
func Terms(question string) []string {
	var all, out []string
	each(question, func(w string) {
		if slices.Contains(all, w) || len(out) >= 32 {
			return
		}
		all = append(all, w)
		if !slices.Contains(stop, w) {
			out = append(out, w)
		}
	})
	if len(out) == 0 {
		return all
	}
	return out
}

// alike reports whether two words have the same stem, roughly: what remains
// after a common beginning of at least four letters is an ending.
func alike(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a == b || n >= 4 && len(a)-n <= 4 && len(b)-n <= 4
}
