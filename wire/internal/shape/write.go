package shape

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Write writes t by its json tags, as Marshal does, with more fields behind its
// own. RawMessages and Values are copied as they are.
func (s Shape[T]) Write(t T, more Fields) json.RawMessage {
	b := s.fields.write(make([]byte, 0, 192), reflect.ValueOf(&t).Elem())
	for _, f := range more {
		b = append(b[:len(b)-1], comma(b)...)
		b = append(append(append(quoted(b, f.Name), ':'), f.Value...), '}')
	}
	return b
}

// comma is what stands before another field of an object that is closed.
func comma(b []byte) string {
	if b[len(b)-2] == '{' {
		return ""
	}
	return ","
}

// writing writes a value behind b.
type writing func(b []byte, v reflect.Value) []byte

func (f *fields) write(b []byte, v reflect.Value) []byte {
	b = append(b, '{')
	first := true
	for i := range f.order {
		m := &f.order[i]
		field := v.Field(m.index)
		if m.omits && m.isEmpty(field) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = m.write(append(b, m.prefix...), field)
	}
	return append(b, '}')
}

// options reads what a tag says behind the name.
func (m *member) options(tag string) {
	_, options, _ := strings.Cut(tag, ",")
	m.omits = options != ""
	m.zero = options == "omitzero"
}

func (m *member) isEmpty(v reflect.Value) bool {
	if k := v.Kind(); !m.zero && (k == reflect.Slice || k == reflect.String) {
		return v.Len() == 0
	}
	if v.Type() == reflect.TypeFor[Value]() {
		return v.Field(0).Len() == 0
	}
	return v.IsZero()
}

func (s shapes) writing(t reflect.Type) writing {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return writeRaw
	case reflect.TypeFor[Value]():
		return func(b []byte, v reflect.Value) []byte { return writeRaw(b, v.Field(0)) }
	}
	switch t.Kind() {
	case reflect.String:
		return func(b []byte, v reflect.Value) []byte { return quoted(b, v.String()) }
	case reflect.Bool:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) }
	case reflect.Int, reflect.Int64:
		return func(b []byte, v reflect.Value) []byte { return strconv.AppendInt(b, v.Int(), 10) }
	case reflect.Float64:
		return writeFloat
	case reflect.Struct:
		return s.fields(t).write
	case reflect.Pointer:
		inner := s.writing(t.Elem())
		return func(b []byte, v reflect.Value) []byte {
			if v.IsNil() {
				return append(b, "null"...)
			}
			return inner(b, v.Elem())
		}
	}
	return s.writingList(t)
}

func (s shapes) writingList(t reflect.Type) writing {
	inner := s.writing(t.Elem())
	return func(b []byte, v reflect.Value) []byte {
		if v.IsNil() {
			return append(b, "null"...)
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			b = inner(b, v.Index(i))
		}
		return append(b, ']')
	}
}

func writeRaw(b []byte, v reflect.Value) []byte {
	if v.Len() == 0 {
		return append(b, "null"...)
	}
	return append(b, v.Bytes()...)
}

// writeFloat writes a number; there is none in JSON for a NaN or an infinity.
func writeFloat(b []byte, v reflect.Value) []byte {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}

const hexDigits = "0123456789abcdef"

// quoted appends s as a JSON string.
func quoted(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] && c < utf8.RuneSelf {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, n = utf8.DecodeRuneInString(s[i:]); r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || n > 1) {
				i += n
				continue
			}
		}
		b = escapeRune(append(b, s[from:i]...), r)
		i += n
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

func escapeRune(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// JSON writes v, a struct, with more fields behind its own.
func JSON(v any, more Fields) Value {
	b, err := MarshalWith(v, more)
	if err != nil {
		return Value{Raw: json.RawMessage("null")} // for a NaN, which no JSON holds
	}
	return Value{Raw: b}
}

// MarshalWith writes v, a struct, with more fields behind its own.
func MarshalWith(v any, more Fields) (json.RawMessage, error) {
	b, err := Marshal(v)
	if err != nil || len(more) == 0 {
		return b, err
	}
	tail, err := more.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if len(b) > len("{}") {
		tail[0] = ','
		return append(b[:len(b)-1], tail...), nil
	}
	return tail, nil
}
