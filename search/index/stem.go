package index

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxStem is the longest word that has an ending, in bytes.
const maxStem = 64

// stem is what the index keeps of a word in lower case: without accents and, if it
// is of English, without its ending, so that "parsing" and "parsed" are one word.
// Source: M. F. Porter, An algorithm for suffix stripping, 1980, with the two later
// changes of its author (-bli, -logi).
func stem(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return r >= 0x80 }) >= 0 {
		word = plain(word)
	}
	if len(word) < 3 || len(word) > maxStem {
		return word
	}
	w := porter(word)
	w.plural()
	w.past()
	if rest, ok := strings.CutSuffix(string(w), "y"); ok && porter(rest).voiced() {
		w = porter(rest + "i")
	}
	w.replace(doubled, 0)
	w.replace(single, 0)
	w.replace(others, 1)
	w.tidy()
	return string(w)
}

// plain is a word without the accents of Latin, Greek and Cyrillic letters.
func plain(word string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if 0x300 <= r && r <= 0x36f {
			return -1
		}
		return r
	}, norm.NFD.String(word)))
}

// porter is a word that loses its endings.
type porter string

// consonant reports whether letter i is one: y is one at the beginning and behind
// a vowel.
func (w porter) consonant(i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !w.consonant(i-1)
	}
	return true
}

// measure counts the vowels, or runs of them, that consonants follow.
func (w porter) measure() (m int) {
	before := true
	for i := range len(w) {
		now := w.consonant(i)
		if now && !before {
			m++
		}
		before = now
	}
	return m
}

// voiced reports whether there is a vowel.
func (w porter) voiced() bool {
	for i := range len(w) {
		if !w.consonant(i) {
			return true
		}
	}
	return false
}

// twice reports whether the word ends in two equal consonants.
func (w porter) twice() bool {
	n := len(w)
	return n >= 2 && w[n-1] == w[n-2] && w.consonant(n-1)
}

// short reports whether it ends in consonant, vowel, consonant, the last none of
// w, x and y.
func (w porter) short() bool {
	n := len(w)
	return n >= 3 && w.consonant(n-1) && !w.consonant(n-2) && w.consonant(n-3) && !strings.ContainsRune("wxy", rune(w[n-1]))
}

func (w porter) ends(s string) bool { return strings.HasSuffix(string(w), s) }

func (w *porter) plural() {
	switch {
	case w.ends("sses"), w.ends("ies"):
		*w = (*w)[:len(*w)-2]
	case w.ends("s") && !w.ends("ss"):
		*w = (*w)[:len(*w)-1]
	}
}

func (w *porter) past() {
	if w.ends("eed") {
		if (*w)[:len(*w)-3].measure() > 0 {
			*w = (*w)[:len(*w)-1]
		}
		return
	}
	rest, ok := strings.CutSuffix(string(*w), "ed")
	if !ok {
		rest, ok = strings.CutSuffix(string(*w), "ing")
	}
	if !ok || !porter(rest).voiced() {
		return
	}
	*w = porter(rest)
	switch {
	case w.ends("at"), w.ends("bl"), w.ends("iz"):
		*w += "e"
	case w.twice() && !w.ends("l") && !w.ends("s") && !w.ends("z"):
		*w = (*w)[:len(*w)-1]
	case w.measure() == 1 && w.short():
		*w += "e"
	}
}

// Endings, longer ones before those that they end in, and what takes their place.
var (
	doubled = [][2]string{{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
		{"bli", "ble"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"},
		{"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},
		{"iviti", "ive"}, {"biliti", "ble"}, {"logi", "log"}}
	single = [][2]string{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}
	others = [][2]string{{"al"}, {"ance"}, {"ence"}, {"er"}, {"ic"}, {"able"}, {"ible"}, {"ant"}, {"ement"}, {"ment"}, {"ent"},
		{"ion"}, {"ou"}, {"ism"}, {"ate"}, {"iti"}, {"ous"}, {"ive"}, {"ize"}}
)

// replace puts another ending in place of the word's, if the measure of what stands
// before it is above least.
func (w *porter) replace(endings [][2]string, least int) {
	for _, e := range endings {
		rest, ok := strings.CutSuffix(string(*w), e[0])
		if !ok {
			continue
		}
		if before := porter(rest); before.measure() > least && (e[0] != "ion" || before.ends("s") || before.ends("t")) {
			*w = porter(rest + e[1])
		}
		return
	}
}

// tidy takes off a last e and one of two l, if enough is left.
func (w *porter) tidy() {
	if rest, ok := strings.CutSuffix(string(*w), "e"); ok {
		if m := porter(rest).measure(); m > 1 || m == 1 && !porter(rest).short() {
			*w = porter(rest)
		}
	}
	if w.ends("ll") && w.measure() > 1 {
		*w = (*w)[:len(*w)-1]
	}
}
