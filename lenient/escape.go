package lenient

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes are the JSON escapes of the control characters.
var escapes = func() (t [0x20]string) {
	for c := range t {
		t[c] = `\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15])
	}
	t['\b'], t['\f'], t['\n'], t['\r'], t['\t'] = `\b`, `\f`, `\n`, `\r`, `\t`
	return t
}()

// jsonEscape is the length of the valid JSON escape at the start of w, or 0.
func jsonEscape(w string) int {
	if len(w) < 2 {
		return 0
	}
	if w[1] != 'u' {
		if strings.IndexByte(`"\/bfnrt`, w[1]) >= 0 {
			return 2
		}
		return 0
	}
	if n := hexes(w[2:], 4); n < 4 {
		return 0
	}
	return 6
}

// halfUnicode reports whether w may yet become a \uXXXX.
func halfUnicode(w string) bool { return len(w) < 6 && w[1] == 'u' && hexes(w[2:], 4) == len(w)-2 }

// hexes counts the hexadecimal digits at the start of w, up to max.
func hexes(w string, max int) (n int) {
	for n < len(w) && n < max && isHex(w[n]) {
		n++
	}
	return n
}

// escape reads a backslash in a string.
func (r *Reader) escape(w string) (int, bool) {
	t := &r.str
	var out string
	var n int
	mended := false
	switch {
	case t.kind == literal:
		out, n = `\\`, 1
	case t.raw:
		out, n = rawEscape(w)
	case t.kind == escaped:
		out, n, mended = twiceEscaped(w)
	default:
		out, n, mended = r.oddEscape(w)
	}
	if n == 0 {
		if !r.ended {
			return 0, true
		}
		out, n = `\\`, 1
	}
	if mended {
		was := w[:n]
		if n == 1 && w[1] < utf8.RuneSelf {
			was = w[:2]
		}
		if !r.mendText(badEscape, was, out) {
			return 0, false
		}
	}
	r.foreign = r.foreign || out != w[:n]
	r.part(out, n)
	return n, false
}

// oddEscape rewrites an escape. n is 0 if more is needed. Escapes that neither
// JSON nor (with Python) Python knows keep their backslash, except \' and \_.
func (r *Reader) oddEscape(w string) (out string, n int, mended bool) {
	if len(w) < 2 {
		return "", 0, false
	}
	if n := jsonEscape(w); n > 0 {
		return w[:n], n, false
	}
	python := r.o.Python
	switch c := w[1]; {
	case c == '\'' || c == '`' && r.str.kind == back:
		return w[1:2], 2, r.str.kind == double && !python
	case c == '_' && !python:
		return "_", 2, true
	case c == 'u':
		if halfUnicode(w) {
			return "", 0, false
		}
	case python:
		if out, n, ok := pythonEscape(w); ok {
			return out, n, false
		}
	}
	return `\\`, 1, !python
}

// pythonEscape rewrites the escapes that Python has beyond JSON. ok is false
// for those that it does not know; n is 0 if more is needed.
func pythonEscape(w string) (out string, n int, ok bool) {
	switch c := w[1]; {
	case c == '\n':
		return "", 2, true
	case c == 'a':
		return `\u0007`, 2, true
	case c == 'v':
		return `\u000b`, 2, true
	case c == 'x':
		return numericEscape(w, 2, 2, 2, 16)
	case c == 'U':
		return numericEscape(w, 2, 8, 8, 16)
	case '0' <= c && c <= '7':
		return numericEscape(w, 1, 1, 3, 8)
	}
	return "", 0, false
}

// numericEscape reads least to most digits that start at byte i.
func numericEscape(w string, i, least, most, base int) (string, int, bool) {
	n := i
	for n < len(w) && n < i+most && (base == 16 && isHex(w[n]) || '0' <= w[n] && w[n] <= '7') {
		n++
	}
	if n == len(w) && n < i+most {
		return "", 0, true
	}
	code, err := strconv.ParseUint(w[i:n], base, 32)
	if n-i < least || err != nil || code > utf8.MaxRune || utf16.IsSurrogate(rune(code)) {
		return "", 0, false
	}
	return escapeContent(string(rune(code))), n, true
}

// rawEscape: in r"…" a backslash stands for itself and keeps a quote from closing.
func rawEscape(w string) (string, int) {
	switch {
	case len(w) < 2:
		return "", 0
	case w[1] == '"':
		return `\\\"`, 2
	case w[1] == '\\':
		return `\\\\`, 2
	case w[1] == '\'' || w[1] == '`':
		return `\\` + w[1:2], 2
	}
	return `\\`, 1
}

// twiceEscaped takes one layer of escapes off.
func twiceEscaped(w string) (out string, n int, mended bool) {
	if len(w) < 2 {
		return "", 0, false
	}
	if w[1] != '\\' {
		if n := jsonEscape(w); n > 0 {
			return w[:n], n, false
		}
		if halfUnicode(w) {
			return "", 0, false
		}
		return `\\`, 1, true
	}
	if len(w) < 3 {
		return "", 0, false
	}
	switch c := w[2]; {
	case c == '\\':
		if len(w) < 4 {
			return "", 0, false
		}
		if w[3] == '"' || w[3] == '\\' {
			return `\` + w[3:4], 4, false
		}
		return `\\`, 3, true
	case c == 'u':
		if hexes(w[3:], 4) == 4 {
			return w[1:7], 7, false
		} else if halfUnicode(w[1:]) {
			return "", 0, false
		}
	case jsonEscape(w[1:]) > 0:
		return w[1:3], 3, false
	}
	return `\\`, 2, true
}

// escapeContent makes s ready to stand between JSON quotes.
func escapeContent(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return string(appendContent(nil, s))
		}
	}
	return s
}

func appendContent(b []byte, s string) []byte {
	for _, ch := range s {
		switch {
		case ch < ' ':
			b = append(b, escapes[ch]...)
		case ch == '"' || ch == '\\':
			b = append(b, '\\', byte(ch))
		default:
			b = utf8.AppendRune(b, ch)
		}
	}
	return b
}

// unescape decodes JSON-escaped content. A lone surrogate becomes U+FFFD.
func unescape(s string) string {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:i]...)
	for i < len(s) {
		if s[i] != '\\' {
			b = append(b, s[i])
			i++
			continue
		}
		if s[i+1] != 'u' {
			b = append(b, unescaped[s[i+1]])
			i += 2
			continue
		}
		ch := unit(s[i:])
		i += 6
		if utf16.IsSurrogate(ch) {
			low := unit(s[i:])
			if ch = utf16.DecodeRune(ch, low); ch != utf8.RuneError {
				i += 6
			}
		}
		b = utf8.AppendRune(b, ch)
	}
	return string(b)
}

// unit is the code unit of the \uXXXX at the start of s, or -1.
func unit(s string) rune {
	if !strings.HasPrefix(s, `\u`) {
		return -1
	}
	n, _ := strconv.ParseUint(s[2:6], 16, 16)
	return rune(n)
}

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
