package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// needle is a text that is looked for before any pattern is tried.
type needle struct {
	text string // in lower case if fold
	fold bool   // letters of ASCII match in either case
	word bool   // not as a part of a longer word

	rare   int // the place in text of its rarest byte
	lo, up byte
}

func newNeedle(text string, fold bool) needle {
	n := needle{text: text, fold: fold}
	for i := range text {
		if rarity(text[i]) < rarity(text[n.rare]) {
			n.rare = i
		}
	}
	n.lo, n.up = text[n.rare], text[n.rare]
	if fold && 'a' <= n.lo && n.lo <= 'z' {
		n.up = n.lo - 'a' + 'A'
	}
	return n
}

// common are the bytes of source code, the most frequent first.
const common = " etnairosldcu\tpm\nhfgb.(),=_:\"yvw/xk-*01;2SETRACNIPDOLM>{}[]&3F4U5689#7BGH+jzqVWXY'!|$<@KJQZ\\%?^`~"

// rarity is higher for bytes that are more frequent.
func rarity(c byte) int {
	if i := strings.IndexByte(common, c); i >= 0 {
		return len(common) - i
	}
	return 0
}

// hunt finds a needle again and again in one buffer, from left to right. Each
// byte is looked at once or twice, whatever the number of calls.
type hunt struct {
	needle
	nextLo, nextUp int // the rare byte's next places, -1 before the first look, len(buf) for none
	found          int // the next place of the needle, valid if ≥ the place asked for
	hops           int // looks at a rare byte
}

func (n needle) hunt() hunt { return hunt{needle: n, nextLo: -1, nextUp: -1, found: -1} }

// from is the first place of the needle in buf at or after at, or len(buf).
func (h *hunt) from(buf []byte, at int) int {
	if h.found >= at {
		return h.found
	}
	pos := at + h.rare
	for {
		h.hops++
		h.nextLo = following(buf, h.lo, h.nextLo, pos)
		next := h.nextLo
		if h.up != h.lo {
			h.nextUp = following(buf, h.up, h.nextUp, pos)
			next = min(next, h.nextUp)
		}
		start := next - h.rare
		switch {
		case next >= len(buf) || start+len(h.text) > len(buf):
			h.found = len(buf)
			return h.found
		case h.at(buf[start:]) && (!h.word || alone(buf, start, start+len(h.text))):
			h.found = start
			return start
		}
		pos = next + 1
	}
}

// following is the first c at or after pos; known is an earlier answer.
func following(buf []byte, c byte, known, pos int) int {
	if known >= pos {
		return known
	}
	if pos >= len(buf) {
		return len(buf)
	}
	if i := bytes.IndexByte(buf[pos:], c); i >= 0 {
		return pos + i
	}
	return len(buf)
}

// alone reports that no letter, digit or underscore of ASCII stands beside
// buf[start:end].
func alone(buf []byte, start, end int) bool {
	return (start == 0 || !inWord(buf[start-1])) && (end == len(buf) || !inWord(buf[end]))
}

func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// at reports whether the needle begins buf, which is long enough.
func (n *needle) at(buf []byte) bool {
	if !n.fold {
		return string(buf[:len(n.text)]) == n.text
	}
	for i := range len(n.text) {
		c := buf[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != n.text[i] {
			return false
		}
	}
	return true
}

// maxNeedles is how many texts are looked for at once.
const maxNeedles = 12

// needles are texts of which every match of re has one, none if that cannot be
// said. The longest come first where there is a choice.
func needles(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		if n, ok := literal(re); ok {
			return []needle{n}
		}
		return eitherCase(re.Rune)
	case syntax.OpCharClass:
		return members(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return needles(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needles(re.Sub[0])
		}
	case syntax.OpConcat:
		return best(re.Sub)
	case syntax.OpAlternate:
		return all(re.Sub)
	}
	return nil
}

// literal is the part of a literal that can be looked for byte by byte: all of
// it, or, without regard to case, its longest run of letters that fold within
// ASCII.
func literal(re *syntax.Regexp) (needle, bool) {
	text := string(re.Rune)
	if re.Flags&syntax.FoldCase == 0 {
		return newNeedle(text, false), true
	}
	if text = longestRun(strings.ToLower(text)); text == "" {
		return needle{}, false
	}
	return newNeedle(text, true), true
}

// eitherCase are the forms of the first letter that is not ASCII, in a text
// that is looked for without regard to case.
func eitherCase(text []rune) (out []needle) {
	i := slices.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
	if i < 0 {
		return nil
	}
	for r := unicode.SimpleFold(text[i]); ; r = unicode.SimpleFold(r) {
		out = append(out, newNeedle(string(r), false))
		if r == text[i] {
			return out
		}
	}
}

// members are the characters of a class, given as ranges, if they are few. A
// byte that is no UTF-8 counts as U+FFFD.
func members(ranges []rune) (out []needle) {
	for i := 0; i+1 < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i])+len(out) >= maxNeedles || ranges[i] <= utf8.RuneError && utf8.RuneError <= ranges[i+1] {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			out = append(out, newNeedle(string(r), false))
		}
	}
	return out
}

// longestRun leaves out k and s, which U+212A and U+017F fold to, and all that
// is not ASCII.
func longestRun(s string) (longest string) {
	for _, run := range strings.FieldsFunc(s, func(r rune) bool { return r == 'k' || r == 's' || r >= 0x80 }) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest
}

func best(subs []*syntax.Regexp) (best []needle) {
	for _, sub := range subs {
		n := needles(sub)
		if d := shortest(n) - shortest(best); d > 0 || d == 0 && len(n) < len(best) {
			best = n
		}
	}
	return best
}

func all(subs []*syntax.Regexp) (out []needle) {
	for _, sub := range subs {
		n := needles(sub)
		if len(n) == 0 || len(out)+len(n) > maxNeedles {
			return nil
		}
		out = append(out, n...)
	}
	return out
}

func shortest(ns []needle) int {
	if len(ns) == 0 {
		return 0
	}
	n := len(ns[0].text)
	for _, x := range ns[1:] {
		n = min(n, len(x.text))
	}
	return n
}
