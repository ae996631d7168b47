package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSpan is how far the end of a span is waited for.
const maxSpan = 2000

// span renders what s begins with, if it is a span: code, emphasis, a link, an
// escape. n is its length; 0: it is none; below 0: that is not known yet. over:
// nothing follows s.
func (w *Writer) span(s string, over bool) (n int) {
	switch s[0] {
	case '`':
		return w.codeSpan(s, over)
	case '*', '_', '~':
		return w.emphasis(s, over)
	case '[':
		return w.linkSpan(s)
	case '\\':
		switch {
		case len(s) == 1:
			return -1
		case strings.IndexByte("\\`*_{}[]<>()#+-.!~|", s[1]) >= 0:
			w.wrap.text(w.style, s[1:2])
			return 2
		}
	}
	return 0
}

// run is the length of the row of equal characters that s begins with.
func run(s string) int { return len(s) - len(strings.TrimLeft(s, s[:1])) }

// codeSpan renders what stands between two rows of as many backticks. A row at
// the end of s may still grow.
func (w *Writer) codeSpan(s string, over bool) int {
	mark := s[:run(s)]
	for at := len(mark); ; {
		i := strings.Index(s[at:], mark)
		if i < 0 {
			return -1
		}
		at += i
		n := run(s[at:])
		if at+n == len(s) && !over {
			return -1
		}
		if n == len(mark) {
			text := s[n:at]
			if len(text) > 2 && text[0] == ' ' && text[len(text)-1] == ' ' {
				text = text[1 : len(text)-1]
			}
			w.wrap.text(code, text)
			return at + n
		}
		at += n
	}
}

// emphasis renders *text*, **text**, ***text***, the same with _, and ~~text~~.
func (w *Writer) emphasis(s string, over bool) int {
	n := run(s)
	style := map[string]string{"*": italic, "_": italic, "**": bold, "__": bold, "***": bold + ";" + italic, "___": bold + ";" + italic, "~~": struck}[s[:n]]
	switch after, _ := utf8.DecodeRuneInString(s[n:]); {
	case len(s) == n:
		return -1
	case style == "", unicode.IsSpace(after), s[0] == '_' && wordy(w.before):
		return 0
	}
	end := closer(s, n)
	if end < 0 || !over && (end+n == len(s) || s[end+n:] == ".") {
		return -1
	}
	was, before := w.style, w.before
	if w.style != "" {
		style = w.style + ";" + style
	}
	w.style, w.before = style, ' '
	w.inline(s[n:end], true)
	w.style, w.before = was, before
	return end + n
}

// inName reports that a name goes on: __init__.py.
func inName(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimPrefix(s, "."))
	return wordy(r)
}

func wordy(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// closer is where a row of n characters as at the beginning of s ends what it
// began; -1 is nowhere. Code and escapes are passed over.
func closer(s string, n int) int {
	for at := n; at < len(s); {
		switch c := s[at]; {
		case c == '\\':
			at += 2
		case c == '`':
			k := run(s[at:])
			if i := strings.Index(s[at+k:], s[at:at+k]); i >= 0 {
				at += k + i
			}
			at += k
		case c == s[0]:
			k := run(s[at:])
			last, _ := utf8.DecodeLastRuneInString(s[:at])
			if k >= n && at > n && !unicode.IsSpace(last) && !(c == '_' && inName(s[at+k:])) && (k == n || k-n != 1 || n > 1) {
				return at + k - n
			}
			at += k
		default:
			at++
		}
	}
	return -1
}

// linkSpan renders [text](address), with the address where it says more.
func (w *Writer) linkSpan(s string) int {
	end := strings.IndexByte(s, ']')
	switch {
	case end < 0, end+1 == len(s):
		return -1
	case end < 2, s[end+1] != '(':
		return 0
	}
	length := strings.IndexByte(s[end+2:], ')')
	if length < 0 {
		return -1
	}
	text, address := s[1:end], strings.TrimSpace(s[end+2:end+2+length])
	w.wrap.text(link, text)
	if address != "" && address != text && address != "mailto:"+text {
		w.wrap.text(dim, " ("+address+")")
	}
	return end + 2 + length + 1
}
