package lenient

import (
	"strings"
)

// key reads the beginning of a key or the end of the object.
func (r *Reader) key(c byte, w string, n int) (int, bool) {
	switch {
	case isCloser(c):
		return r.closer(c, n), false
	case c == ',':
		return r.extraComma(n), false
	case isQuote(c):
		return r.quoted(c, w, n)
	case c == '{' && r.state == sKeyFirst:
		if r.mend(inside, doubledBrace, "{{", "{") {
			r.stack[len(r.stack)-1].doubled++
		}
		return n, false
	case c == '{' && !r.o.Strict && r.toList():
		return 0, false
	case isLetter(c) || isDigit(c) || r.o.Quote != "" && freeName(c):
		return r.startName(), false
	}
	return r.fail("a key in quotes"), false
}

// toList closes the objects above the nearest list: a comma and a { are its
// next item, so their closers are missing.
func (r *Reader) toList() bool {
	at := len(r.stack) - 1
	for at >= 0 && r.stack[at].kind == object {
		at--
	}
	if at < 0 || r.stack[at].kind > tuple || len(r.stack)-at > len(r.queue) {
		return false
	}
	for len(r.stack)-1 > at {
		r.missing()
	}
	r.state, r.stack[at].comma = sItem, true
	return true
}

// arg reads the beginning of an argument or the end of the list.
func (r *Reader) arg(c byte, w string, n int) (int, bool) {
	if isLetter(c) {
		return r.startName(), false
	}
	if c == '*' {
		return r.fail("an argument"), false
	}
	return r.value(c, w, n)
}

func (r *Reader) startName() int {
	r.word.start(r.off)
	r.resume, r.state = r.state, sName
	return 0
}

// name reads an unquoted key.
func (r *Reader) name(w string) (int, bool) {
	i := 0
	for i < len(w) {
		n := r.nameChar(w[i:])
		if n < 0 {
			r.word.buf = append(r.word.buf, w[:i]...)
			return i, true
		}
		if n == 0 {
			return r.endName(w[:i]), false
		}
		i += n
	}
	r.word.buf = append(r.word.buf, w...)
	return len(w), false
}

// nameChar is the width of the next character of the name: 0 if the name ends
// in front of it, negative if more is needed to know.
func (r *Reader) nameChar(w string) int {
	c, n := glyph(w, r.ended)
	switch {
	case n == 0:
		return -1
	case isLetter(c), isDigit(c), c == '-', c == '.', c == '\\':
		return n
	case r.o.Quote != "" && freeName(c):
		return n
	case r.o.Quote != "" && c == ' ':
		return r.blankInName(w[n:])
	}
	return 0
}

// blankInName is the width of a blank within a key that needs no quotes: 0 if
// the key does not go on after it, negative if more is needed to know.
func (r *Reader) blankInName(rest string) int {
	switch {
	case rest == "" && !r.ended:
		return -1
	case rest != "" && freeName(rest[0]):
		return 1
	}
	return 0
}

// freeName reports whether c may stand in a key where keys need no quotes.
func freeName(c byte) bool { return c > ' ' && strings.IndexByte("\"'`:=,{}[]()", c) < 0 }

// endName: in an object the name is a key, in an argument list that depends on
// what follows.
func (r *Reader) endName(s string) int {
	n := len(s)
	if r.resume == sArg || r.resume == sArgFirst {
		r.word.buf = append(r.word.buf, s...)
		r.state = sNameGap
		return n
	}
	if len(r.word.buf) > 0 {
		s = string(append(r.word.buf, s...))
	}
	r.nameKey(s, n)
	return n
}

// nameKey makes a key of a name that ends n bytes from here.
func (r *Reader) nameKey(s string, n int) {
	name, mended := unmark(strings.ToValidUTF8(s, "\ufffd"))
	inArgs := r.stack[len(r.stack)-1].kind == arguments
	native := inArgs || r.o.Quote != ""
	if r.o.Strict && (mended && !inArgs || !native) {
		r.fail("a key in quotes")
		return
	}
	r.keyed(name, r.word.at, n)
	r.named, r.foreign = true, true
	switch {
	case mended && inArgs:
		r.note(Fix{Path: r.pointer(here), Was: short(s, maxQuote), Now: short(name, maxQuote), Why: whys[badEscape]})
	case mended:
		r.mend(here, badEscape, s, name)
	}
	if !native {
		r.mend(here, bareKey, s, `"`+name+`"`)
	}
}

// unmark takes the backslashes of Markdown out of a name (max\_results).
func unmark(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != '\\' || i+1 == len(s) || s[i+1] != '_' {
			b = append(b, s[i])
		}
	}
	if len(b) == len(s) {
		return s, false
	}
	return string(b), true
}

// nameGap reads what follows a name in an argument list: = makes it a keyword.
func (r *Reader) nameGap(c byte, w string) (int, bool) {
	if c == '=' {
		next, ok := r.following(w)
		if !ok {
			return 0, true
		}
		if next != '=' {
			return r.keyword(1), false
		}
	}
	if c == ':' {
		_, n := glyph(w, true)
		if n = r.keyword(n); n > 0 {
			r.mend(here, colonEquals, ":", "=")
		}
		return n, false
	}
	r.state = sArg
	r.begin()
	r.word.resume(r.off)
	r.state = sWord
	return 0, false
}

// keyword makes a key of the name in the buffer; n bytes stand for its =.
func (r *Reader) keyword(n int) int {
	if r.nameKey(string(r.word.buf), 0); r.state == sFail {
		return 0
	}
	r.state = sValue
	return n
}

// resume makes a word of the name in the buffer. Blanks may have come since.
func (b *bare) resume(off int) {
	gap := off > b.at+len(b.buf)
	*b = bare{buf: b.buf, at: b.at, size: len(b.buf), gap: gap}
	if gap {
		b.buf = append(b.buf, ' ')
	}
}

// colon reads what stands between key and value.
func (r *Reader) colon(c byte, n int) int {
	arrow := r.state == sArrow
	switch {
	case arrow:
		r.state = sValue
		if c == '>' {
			return n
		}
		return 0
	case c == ':':
		r.state = sValue
		return n
	case c == '=':
		if r.mend(here, equalsColon, "=", ":") {
			r.state = sArrow
		}
		return n
	case !r.named && (isQuote(c) || isDigit(c) || c == '-' || c == '{' || c == '['):
		if r.mend(here, missingColon, "", ":") {
			r.state = sValue
		}
		return 0
	}
	return r.fail(`":"`)
}

// glue reads what stands between two literals of one string.
func (r *Reader) glue(c byte, w string, n int) (int, bool) {
	switch {
	case isQuote(c):
		return r.quoted(c, w, n)
	case c == '+':
		if !r.mendText(joined, "+", "") {
			return 0, false
		}
		return n, false
	}
	return r.fail("the rest of the string"), false
}
