package prompt

import (
	"bytes"
	"encoding/json"
	"strings"
)

// member is a key of an object with its value as written.
type member struct {
	key   string
	value json.RawMessage
}

// members lists an object's members in their order.
func members(object json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var out []member
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: key.(string)}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func elements(list json.RawMessage) (out []json.RawMessage, err error) {
	err = json.Unmarshal(list, &out)
	return out, err
}

// kindOf is the first byte of a JSON value: { [ " t f n or that of a number.
func kindOf(v json.RawMessage) byte {
	if v = bytes.TrimLeft(v, " \t\r\n"); len(v) > 0 {
		return v[0]
	}
	return 0
}

var typeNames = map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}

func typeName(v json.RawMessage) string { return or(typeNames[kindOf(v)], "number") }

// unquote is the text of a JSON string.
func unquote(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return string(v)
	}
	return s
}

// quote writes a JSON string, with <, > and & as they are.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// spaced writes JSON on one line with a blank after each comma and colon, as
// chat templates do. Strings and numbers stay as written.
func spaced(v json.RawMessage) string {
	return outside(v, func(b *strings.Builder, c byte) {
		b.WriteByte(c)
		if c == ',' || c == ':' {
			b.WriteByte(' ')
		}
	})
}

// outside rewrites JSON byte by byte, but for its strings and white space.
func outside(v json.RawMessage, write func(*strings.Builder, byte)) string {
	var small bytes.Buffer
	if json.Compact(&small, v) != nil {
		return string(v)
	}
	var b strings.Builder
	text := small.Bytes()
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			write(&b, text[i])
			continue
		}
		end := stringEnd(text, i)
		b.Write(text[i:end])
		i = end - 1
	}
	return b.String()
}

// stringEnd is the offset after the string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// indented writes JSON over several lines. Strings and numbers stay as written.
func indented(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, v, "", "  ") != nil {
		return string(v)
	}
	return b.String()
}
