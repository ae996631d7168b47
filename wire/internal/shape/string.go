package shape

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted passes over a string and gives what stands between the quotes.
func (s *scanner) quoted() (inner []byte, escaped bool, err *Error) {
	if s.sound {
		start, end := s.i+1, stringEnd(s.b, s.i+1)
		s.i = end + 1
		inner = s.b[start:end]
		return inner, bytes.IndexByte(inner, '\\') >= 0, nil
	}
	b, start := s.b, s.i+1
	for i := start; i < len(b); {
		if len(b)-i >= 8 {
			m := marks(binary.LittleEndian.Uint64(b[i:]))
			if i += bits.TrailingZeros64(m) / 8; m == 0 {
				continue // all eight mean themselves
			}
		} else if c := b[i]; c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		if b[i] == '"' {
			s.i = i + 1
			return b[start:i], escaped, nil
		}
		escaped = true
		if i+1 < len(b) && b[i] == '\\' && escapes[b[i+1]] != 0 {
			i += 2
			continue
		}
		if hex4(b[i:]) < 0 {
			s.i = i
			return nil, false, s.fail(`an escaped character: \n, \" or \u00XX`)
		}
		i += len(`\u00XX`)
	}
	s.i = len(b)
	return nil, false, s.fail("a closing quote")
}

// stops are the bytes that end a number or a word, and those that begin or end
// an object, an array or a string.
var stops = func() (t [256]bool) {
	for _, c := range []byte("{}[]\", \t\r\n") {
		t[c] = true
	}
	return t
}()

// pass passes over a value that was passed over before.
func (s *scanner) pass() {
	depth := 0
	for s.i < len(s.b) {
		c := s.b[s.i]
		if !stops[c] {
			for s.i++; s.i < len(s.b) && !stops[s.b[s.i]]; s.i++ {
			}
			c = 0
		}
		switch c {
		case '"':
			s.i = stringEnd(s.b, s.i+1) + 1
		case '{', '[':
			s.i++
			depth++
		case '}', ']':
			s.i++
			depth--
		case ' ', '\t', '\r', '\n', ',':
			s.i++
		}
		if depth == 0 {
			return
		}
	}
}

// stringEnd is where the quote stands that ends a string.
func stringEnd(b []byte, start int) int {
	for short := min(start+16, len(b)); start < short && b[start] != '\\'; start++ {
		if b[start] == '"' {
			return start
		}
	}
	for i := start; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b) - 1
		}
		i += n
		slashes := i
		for slashes > start && b[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i
		}
	}
}

// Eight bytes of 1, and eight of 0x80.
const ones, highs = 0x0101010101010101, 0x8080808080808080

// marks has a high bit in the first byte of x, and maybe in some behind it, that
// does not mean itself in a string: a quote, a backslash or a control character.
func marks(x uint64) uint64 {
	quote, slash := x^ones*'"', x^ones*'\\'
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-ones*' ')&^x) & highs
}

// hex4 is the number of \uXXXX at the beginning of b, or -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// escapes are the characters that stand behind a backslash.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape reads the escapes of a string that quoted has passed. Half a
// surrogate pair becomes U+FFFD.
func unescape(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	for {
		n := slash(b)
		out.Write(b[:n])
		for b = b[n:]; len(b) > 0 && b[0] == '\\' && escapes[b[1]] != 0; b = b[2:] {
			out.WriteByte(escapes[b[1]])
		}
		switch {
		case len(b) == 0:
			return out.String()
		case b[0] != '\\':
			continue
		}
		r := hex4(b)
		b = b[6:]
		if utf16.IsSurrogate(r) {
			if r = utf16.DecodeRune(r, hex4(b)); r != utf8.RuneError {
				b = b[6:]
			}
		}
		out.WriteRune(r)
	}
}

// slash is where the first backslash stands in b, or its length.
func slash(b []byte) int {
	for i := 0; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:]) ^ ones*'\\'
		if m := (x - ones) &^ x & highs; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	i := len(b) &^ 7
	for i < len(b) && b[i] != '\\' {
		i++
	}
	return i
}
