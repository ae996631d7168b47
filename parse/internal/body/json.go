package body

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/lenient"
)

// AppendCompact writes JSON without the white space between its tokens.
func AppendCompact(b []byte, v json.RawMessage) []byte {
	if !bytes.ContainsAny(v, " \t\r\n") {
		return append(b, v...)
	}
	var out bytes.Buffer
	if json.Compact(&out, v) != nil {
		return append(b, v...)
	}
	return append(b, out.Bytes()...)
}

// Fields lists the members of a valid JSON object in order.
func Fields(object json.RawMessage) (out []Field) {
	dec := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	for dec.More() {
		k, err := dec.Token()
		key, ok := k.(string)
		var v json.RawMessage
		if err != nil || !ok || dec.Decode(&v) != nil {
			return out
		}
		out = append(out, Field{Key: key, Value: v})
	}
	return out
}

// AppendString writes a JSON string.
func AppendString(b []byte, s string) []byte {
	return append(AppendEscaped(append(b, '"'), s), '"')
}

// Escapes are the bytes that JSON escapes in a string.
var Escapes = func() (t [256]string) {
	const hex = "0123456789abcdef"
	for c := range ' ' {
		t[c] = `\u00` + string([]byte{hex[c>>4], hex[c&15]})
	}
	t['\n'], t['\r'], t['\t'], t['"'], t['\\'] = `\n`, `\r`, `\t`, `\"`, `\\`
	return t
}()

// AppendEscaped writes text as it stands inside a JSON string.
func AppendEscaped(b []byte, s string) []byte {
	from := 0
	for i := range len(s) {
		if esc := Escapes[s[i]]; esc != "" {
			b = append(append(b, s[from:i]...), esc...)
			from = i + 1
		}
	}
	return append(b, s[from:]...)
}

// Quote is a text as a JSON string.
func Quote(s string) json.RawMessage { return AppendString(nil, s) }

// Field is a member of an object.
type Field struct {
	Key   string
	Value json.RawMessage
}

// List makes a list of values.
func List(values []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// Unescape is the text of a JSON string without its quotes; what is none stays as it is.
func Unescape(escaped []byte) string {
	if bytes.IndexByte(escaped, '\\') < 0 {
		return string(escaped)
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(escaped)+`"`), &s) != nil {
		return string(escaped)
	}
	return s
}

// Valid is s with each byte that is no UTF-8 replaced by U+FFFD, one by one, so
// that the result does not depend on where s was cut.
func Valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// Same reports whether two values are equal but for blanks and the order of keys.
func Same(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || bytes.Equal(canonical(a), canonical(b))
}

// canonical is JSON with sorted keys and its number literals.
func canonical(b json.RawMessage) []byte {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return b
	}
	out, err := json.Marshal(v)
	if err != nil {
		return b
	}
	return out
}

// Elements are those of a list; another value is the only one of its list.
func Elements(v json.RawMessage) (out []json.RawMessage) {
	if v[0] != '[' || json.Unmarshal(v, &out) != nil {
		return []json.RawMessage{v}
	}
	return out
}

// JSONOrText reads a value that is said to be no text.
func JSONOrText(s string) json.RawMessage {
	trimmed := strings.TrimSpace(s)
	if v, n, _, err := lenient.Repair(trimmed, lenient.Options{Strict: true}); err == nil && n == len(trimmed) {
		return v
	}
	if v, n, _, err := lenient.Repair(trimmed, lenient.Options{Python: true}); err == nil && n == len(trimmed) && trimmed != "" && strings.IndexByte("{[TFN", trimmed[0]) >= 0 {
		return v
	}
	return Quote(s)
}
