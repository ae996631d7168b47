package shape

import (
	"encoding/json"
	"math/bits"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// quoted appends s as a JSON string.
func quoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; ; {
		if i += plainASCII(s[i:]); i == len(s) {
			return append(append(b, s[from:]...), '"')
		}
		if letters[s[i]] != 0 {
			b = append(b, s[from:i]...)
			for ; i < len(s) && letters[s[i]] != 0; i++ {
				b = append(b, '\\', letters[s[i]])
			}
			from = i
			continue
		}
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			if r, n = utf8.DecodeRuneInString(s[i:]); r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || n > 1) {
				i += n
				continue
			}
		}
		b = escapeRune(append(b, s[from:i]...), r)
		i += n
		from = i
	}
}

// plainASCII counts the bytes at the beginning of s that are written as they are
// and are no part of a longer character.
func plainASCII(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if x := eight(s[i:]); (marks(x)|x)&highs != 0 {
			return i + bits.TrailingZeros64((marks(x)|x)&highs)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// eight is the first eight bytes of s, the first the lowest.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// letters are what stands behind the backslash for the characters that have one.
var letters = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't'}

func escapeRune(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// Quote is a text as JSON.
func Quote(s string) Value {
	n := len(s) + 2
	for _, escaped := range []string{"\n", "\t", `"`, `\`} {
		n += strings.Count(s, escaped)
	}
	return Value{Raw: quoted(make([]byte, 0, n), s)}
}

// Inner is a text as it stands between the quotes of a JSON string.
func Inner(s string) string {
	b := Quote(s).Raw
	return string(b[1 : len(b)-1])
}

// List is Values as an array.
func List(list []Value) Value {
	n := 2
	for _, v := range list {
		n += len(v.Raw) + 1
	}
	b := append(make([]byte, 0, n), '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v.Raw...)
	}
	return Value{Raw: append(b, ']')}
}

// Raw writes an object with these fields.
func (f Fields) Raw() json.RawMessage {
	return f.append(append(make([]byte, 0, f.length()+2), '{'))
}

// MarshalJSON writes the object.
func (f Fields) MarshalJSON() ([]byte, error) { return f.Raw(), nil }

// JSON writes v, a struct, with more fields behind its own.
func JSON(v any, more Fields) Value {
	b, err := MarshalWith(v, more)
	if err != nil {
		return Value{Raw: json.RawMessage("null")} // for a NaN, which no JSON holds
	}
	return Value{Raw: b}
}

// Given is v as JSON if it was given, or else absent.
func Given(given bool, v any) Value {
	if !given {
		return Value{}
	}
	return JSON(v, nil)
}

// MarshalWith writes v, a struct, with more fields behind its own.
func MarshalWith(v any, more Fields) (json.RawMessage, error) {
	b, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	return more.Behind(b), nil
}
