package reading

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// quick reads a line as programs write it that ask often: known keys, a number for an
// id, texts, and at the end tools that a line before had too. It reports false for
// every other line, which is json's to read or to refuse; what it does read is what
// json would have read. json looks at each byte four times, which costs as much as the
// parser.
func (m *memory) quick(line []byte, l *lineJSON) bool {
	rest, ok := bytes.CutPrefix(line, []byte("{"))
	for ok {
		var key, value string
		if key, rest, ok = text(rest); !ok {
			return false
		}
		if rest, ok = bytes.CutPrefix(blank(rest), []byte(":")); !ok {
			return false
		}
		rest = blank(rest)
		switch key {
		case "id":
			n := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
			if n == 0 || n > 1 && rest[0] == '0' {
				return false
			}
			l.ID, rest = slices.Clone(rest[:n]), rest[n:]
		case "tools":
			l.Tools, ok = bytes.CutSuffix(rest, []byte("}"))
			return ok && m.knows(l.Tools)
		default:
			if value, rest, ok = text(rest); !ok || !l.set(key, value) {
				return false
			}
		}
		rest = blank(rest)
		if len(rest) == 1 && rest[0] == '}' {
			return true
		}
		rest, ok = bytes.CutPrefix(rest, []byte(","))
	}
	return false
}

// knows reports whether these tools stood in a line before, so that they are JSON.
func (m *memory) knows(tools []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offers[offerKey{string(tools), false}] != nil || m.offers[offerKey{string(tools), true}] != nil
}

// set sets a field that is a text.
func (l *lineJSON) set(key, value string) bool {
	switch key {
	case "op":
		l.Op = value
	case "input":
		l.text = &value
	case "kind":
		l.Kind = value
	case "piece":
		l.Piece = &value
	case "model":
		l.Model = value
	case "grammar":
		l.Grammar = value
	case "prefill":
		l.Prefill = &value
	case "policy":
		l.Policy = &value
	default:
		return false
	}
	return true
}

func blank(b []byte) []byte { return bytes.TrimLeft(b, " \t") }

// text reads a string of JSON, and gives what follows it.
func text(b []byte) (s string, rest []byte, ok bool) {
	b = blank(b)
	if len(b) == 0 || b[0] != '"' {
		return "", nil, false
	}
	var body []byte
	for end, escaped := 1, true; escaped; end++ {
		n := bytes.IndexByte(b[end:], '"')
		if n < 0 {
			return "", nil, false
		}
		end += n
		body, rest = b[1:end], b[end+1:]
		escaped = (len(body)-len(bytes.TrimRight(body, `\`)))%2 == 1
	}
	if !utf8.Valid(body) || slices.ContainsFunc(body, func(c byte) bool { return c < ' ' }) {
		return "", nil, false
	}
	if s, ok = unescaped(body); !ok {
		ok = json.Unmarshal(b[:len(body)+2], &s) == nil
	}
	return s, rest, ok
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescaped is what the inside of a string of JSON says, if no letter in it is written as
// a number.
func unescaped(body []byte) (string, bool) {
	var b strings.Builder
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 && b.Len() == 0 {
			return string(body), true
		}
		if i < 0 {
			b.Write(body)
			return b.String(), true
		}
		c := escapes[body[i+1]]
		if c == 0 {
			return "", false
		}
		b.Grow(len(body))
		b.Write(body[:i])
		b.WriteByte(c)
		body = body[i+2:]
	}
}
