package lenient

import (
	"strings"
	"unicode/utf8"
)

// other stands for every letter beyond ASCII.
const other byte = 0x80

// glyph gives the character at the start of w as the grammar sees it and its
// width. Full-width punctuation, typographic quotes and odd blanks count as
// their ASCII forms. n is 0 if w ends inside the character and may go on.
func glyph(w string, end bool) (c byte, n int) {
	if w[0] < utf8.RuneSelf {
		return w[0], 1
	}
	if !end && !utf8.FullRuneInString(w) {
		return 0, 0
	}
	ch, n := utf8.DecodeRuneInString(w)
	return standIn(ch), n
}

func standIn(ch rune) byte {
	switch ch {
	case '，':
		return ','
	case '：':
		return ':'
	case '｛':
		return '{'
	case '｝':
		return '}'
	case '［':
		return '['
	case '］':
		return ']'
	case '“', '”', '„', '＂':
		return '"'
	case '‘', '’':
		return '\''
	case 'Ċ', '\u2028', '\u2029':
		return '\n'
	case 'Ġ', '\u00a0', '\u3000', '\ufeff', '\u200b':
		return ' '
	}
	return other
}

// blanks counts the ASCII white space at the start of w.
func blanks(w string) (n int) {
	for n < len(w) && isBlank(w[n]) {
		n++
	}
	return n
}

func trimBlanks(s string) string { return strings.Trim(s, " \t\r\n") }

func isBlank(c byte) bool  { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }
func isCloser(c byte) bool { return c == '}' || c == ']' || c == ')' }
func isLetter(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c >= utf8.RuneSelf
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// wordStart reports whether a number or a bare word may begin with c.
func wordStart(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte("+-./~@*%", c) >= 0
}

// match says how a string begins.
type match uint8

const (
	no match = iota
	yes
	maybe // more is needed
)

// prefix reports whether w starts with p.
func prefix(w, p string, end bool) match {
	switch {
	case strings.HasPrefix(w, p):
		return yes
	case !end && len(w) < len(p) && strings.HasPrefix(p, w):
		return maybe
	}
	return no
}
