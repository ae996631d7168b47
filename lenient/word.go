package lenient

import (
	"strings"
)

// maxWord is the length of a bare word that is taken for a string.
const maxWord = 256

// bare is the number or word being read.
type bare struct {
	buf     []byte // what earlier pieces brought
	at, end int    // its offsets
	size    int    // bytes so far
	parens  int    // open
	numeric bool   // it begins like a number
	op      bool   // an operand is due
	gap     bool   // the last character is a blank
	spaced  bool   // there are blanks inside
	path    bool   // it begins like C:\
}

func (b *bare) start(at int) { *b = bare{buf: b.buf[:0], at: at} }

// bare reads characters of a word up to what cannot belong to it.
func (r *Reader) bare(w string) (int, bool) {
	b := &r.word
	i := 0
	for i < len(w) {
		if q := r.o.Quote; q != "" && w[i] == q[0] && len(r.stack) > 0 {
			switch prefix(w[i:], q, r.ended) {
			case maybe:
				b.buf = append(b.buf, w[:i]...)
				return i, true
			case yes:
				return r.endWord(w, i), false
			}
		}
		n := r.wordChar(w[i:])
		if n < 0 {
			b.buf = append(b.buf, w[:i]...)
			return i, true
		}
		if n == 0 {
			return r.endWord(w, i), false
		}
		i += n
		b.size += n
	}
	b.buf = append(b.buf, w...)
	return len(w), false
}

// wordChar is the width of the next character of the word: 0 if the word ends
// in front of it, negative if more is needed to know.
func (r *Reader) wordChar(w string) int {
	b := &r.word
	c, n := w[0], 1
	root := len(r.stack) == 0
	if c >= other {
		if root {
			return 0
		}
		if c, n = glyph(w, r.ended); n == 0 {
			return -1
		}
		if c < other {
			return 0
		}
	}
	switch {
	case isBlank(c):
		if b.parens == 0 && (root || c == '\n') {
			return 0
		}
		b.gap = true
		return n
	case b.numeric && b.gap && !b.op && b.parens == 0 && strings.IndexByte("+-*/%", c) < 0:
		return 0
	}
	if root && strings.IndexByte(":'<#", c) >= 0 {
		return 0 // never look beyond a root value
	}
	if n, done := r.wordMark(c, w); done {
		return n
	}
	if b.size > maxWord && !b.numeric && r.o.Quote == "" {
		return 0
	}
	b.spaced = b.spaced || b.gap && b.size > 0
	b.gap, b.op = false, strings.IndexByte("+-*/%(", c) >= 0
	if b.size == 0 {
		b.numeric = isDigit(c) || c == '-' || c == '+' || c == '.' || c == '('
	}
	return n
}

// wordMark handles the characters that may end a word.
func (r *Reader) wordMark(c byte, w string) (n int, done bool) {
	b := &r.word
	free := r.o.Quote != ""
	switch c {
	case ',', '{', '}', '[', ']', '"', '`':
		return 0, true
	case '(':
		if b.size > 0 && !(b.numeric && b.op) || b.parens >= maxParens {
			return 0, true
		}
		b.parens++
	case ')':
		if b.parens == 0 {
			return 0, true
		}
		b.parens--
	case '\'':
		if !free {
			return r.apostrophe(w)
		}
	case ':':
		return r.colonInWord(w)
	case '=':
		return 0, !free && (r.o.Args || b.numeric || b.gap || b.spaced)
	case '#':
		return 0, !free && (b.numeric || b.gap)
	case '/':
		if !free && len(r.stack) > 0 {
			return r.slash(w)
		}
	case '\\':
		return 0, !free && !b.path
	case '<':
		return r.less(w)
	case '&':
		return 0, !free && (b.gap || b.spaced)
	case '>', ';', '|', '^', '!':
		return 0, !free
	}
	return 0, false
}

// following is the character after the first of w: 0 if there is none, ok is
// false if it has yet to come.
func (r *Reader) following(w string) (c byte, ok bool) {
	if len(w) < 2 {
		return 0, r.ended
	}
	return w[1], true
}

// apostrophe may stand between letters (it's) or open a prefixed string (r'…').
func (r *Reader) apostrophe(w string) (int, bool) {
	b := &r.word
	if b.numeric || b.gap || b.size == 0 || b.size <= 2 && b.parens == 0 {
		return 0, true
	}
	next, ok := r.following(w)
	if !ok {
		return -1, true
	}
	return 0, !isLetter(next)
}

// colonInWord may stand inside (12:30, http://x), not in front of a blank.
func (r *Reader) colonInWord(w string) (int, bool) {
	b := &r.word
	if b.spaced || b.gap {
		return 0, true
	}
	next, ok := r.following(w)
	if !ok {
		return -1, true
	}
	b.path = next == '\\' && b.size == 1
	return 0, !isLetter(next) && !isDigit(next) && next != '/' && !b.path
}

// less ends a word in front of what looks like markup.
func (r *Reader) less(w string) (int, bool) {
	if r.o.Quote == "" || r.word.numeric {
		return 0, true
	}
	next, ok := r.following(w)
	if !ok {
		return -1, true
	}
	return 0, isLetter(next) || next == '|' || next == '/'
}

// slash is a division, part of a word, or the beginning of a comment.
func (r *Reader) slash(w string) (int, bool) {
	b := &r.word
	next, ok := r.following(w)
	if !ok {
		return -1, true
	}
	comment := b.numeric || b.gap
	switch {
	case next == '*':
		return 0, comment
	case next != '/' || r.o.Python && b.numeric:
		return 0, false
	case b.gap:
		return 0, true
	case !b.numeric:
		return 0, false
	}
	operand, ok := r.following(w[1:])
	if !ok {
		return -1, true
	}
	return 0, !isDigit(operand) && operand != '('
}

// endWord makes tokens of the word, which ends i bytes from here.
func (r *Reader) endWord(w string, i int) int {
	b := &r.word
	s := w[:i]
	if len(b.buf) > 0 {
		s = string(append(b.buf, s...))
	}
	var next byte
	if i < len(w) {
		if next = w[i]; next >= other && len(r.stack) > 0 {
			next, _ = glyph(w[i:], true)
		}
	}
	s = strings.TrimRight(s, " \t\r\n")
	b.end = b.at + len(s)
	if q := r.o.Quote; q != "" && len(r.stack) > 0 && i < len(w) && strings.HasPrefix(w[i:], q) {
		if r.mend(here, openingQuote, "", q) {
			r.bareString(s)
		}
		return i + len(q)
	}
	if isQuote(next) && !b.gap && isPrefix(s) {
		return r.prefixed(s, i)
	}
	if want := r.settleWord(s, next); want != "" {
		return r.fail(want)
	}
	return i
}

// settleWord emits the word as what it is, or says what it should have been.
func (r *Reader) settleWord(s string, next byte) (want string) {
	if s == "true" || s == "false" || s == "null" || isNumber(s) {
		r.scalar(s)
		return ""
	}
	r.foreign = true
	core := unparen(s)
	if lit := foreignLiterals[core]; lit != "" {
		if r.o.Python && isLiteral(core) || r.mend(here, foreignLiteral, s, lit) {
			r.scalar(lit)
		}
		return ""
	}
	if r.o.Quote != "" && len(r.stack) > 0 {
		r.bareString(s)
		return ""
	}
	if num, python, ok := plainNumber(core); ok {
		if python && r.o.Python || r.mend(here, oddNumber, s, num) {
			r.scalar(num)
		}
		return ""
	}
	num, err := r.evaluate(s)
	if err != "" {
		return err
	}
	if num != "" {
		if r.mend(here, expression, s, num) {
			r.scalar(num)
		}
		return ""
	}
	return r.bareWord(s, next)
}

// bareWord takes the word for a string if nothing speaks against it.
func (r *Reader) bareWord(s string, next byte) (want string) {
	first, _, more := strings.Cut(s, " ")
	switch {
	case len(r.stack) == 0:
		return "a JSON value"
	case notNumbers[strings.ToLower(strings.TrimLeft(s, "+-"))]:
		return "a number that JSON can hold, or a string in quotes"
	case halfLiteral(s):
		return "true, false, null or a string in quotes"
	case next == '(' || strings.IndexByte(s, '(') >= 0:
		return "a literal (calls are not evaluated)"
	case r.o.Args && r.o.Strict && !r.o.Words:
		return "a literal (variables are not evaluated)"
	case isQuote(next) && len(s) <= 2 && strings.ContainsAny(s, "fF"):
		return "a plain string (f-strings are not evaluated)"
	case next != 0 && next != ',' && next != '\n' && next != '#' && next != '/' && !isCloser(next),
		more && (isLiteral(first) || isNumber(first)), len(s) > maxWord, s == "",
		strings.Trim(s, "+-./~@*%$_") == "", formula(s):
		return "a value (text needs quotes)"
	}
	if r.o.Words {
		r.note(Fix{Path: r.pointer(here), Was: short(s, maxQuote), Now: short(`"`+s+`"`, maxQuote), Why: BareWord, Guess: true})
		r.bareString(s)
	} else if r.mend(here, bareWord, s, `"`+s+`"`) {
		r.bareString(s)
	}
	return ""
}

// formula reports whether s has operators between words.
func formula(s string) bool {
	for _, op := range []string{" + ", " * ", " / ", " % ", " = ", " ** "} {
		if strings.Contains(s, op) {
			return true
		}
	}
	return false
}

// scalar emits the word as a literal.
func (r *Reader) scalar(s string) {
	r.put(spanning(Scalar, s, r.word.at, r.word.end))
	r.valued()
}

func (r *Reader) bareString(s string) {
	at, end := r.word.at, r.word.end
	r.put(Token{Kind: StringOpen, At: at})
	if s != "" {
		r.put(spanning(StringPart, escapeContent(s), at, end))
	}
	r.put(Token{Kind: StringClose, At: end})
	r.valued()
}

// prefixed begins a string after its prefix.
func (r *Reader) prefixed(s string, n int) int {
	r.foreign = true
	if !r.o.Python && !r.mend(here, stringPrefix, s, "") {
		return 0
	}
	r.str.raw = strings.ContainsAny(s, "rR")
	r.state = sValue
	return n
}

// isPrefix reports whether s may stand in front of a Python string literal.
func isPrefix(s string) bool {
	switch strings.ToLower(s) {
	case "r", "u", "b", "br", "rb":
		return true
	}
	return false
}

// unparen takes parentheses off that surround all of s.
func unparen(s string) string {
	for len(s) > 2 && s[0] == '(' && s[len(s)-1] == ')' {
		s = trimBlanks(s[1 : len(s)-1])
	}
	return s
}

// isLiteral reports whether s is a literal of JSON or Python.
func isLiteral(s string) bool {
	switch s {
	case "true", "false", "null", "True", "False", "None":
		return true
	}
	return false
}

var foreignLiterals = map[string]string{
	"True": "true", "False": "false", "None": "null",
	"TRUE": "true", "FALSE": "false", "NULL": "null", "Null": "null", "NONE": "null",
	"true": "true", "false": "false", "null": "null", // in parentheses
	"undefined": "null",
}

// notNumbers have no place in JSON, and null would be a guess.
var notNumbers = map[string]bool{"nan": true, "inf": true, "infinity": true}

// halfLiteral reports whether s is the beginning of a literal.
func halfLiteral(s string) bool {
	if len(s) < 2 {
		return false
	}
	for _, l := range []string{"true", "false", "null", "True", "False", "None"} {
		if strings.HasPrefix(l, s) {
			return true
		}
	}
	return false
}
