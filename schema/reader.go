package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// parse reads one JSON value. It accepts what encoding/json accepts.
func parse(b []byte) (node, error) {
	r := reader{b: b}
	n := r.value(0)
	if r.space(); r.bad || r.i < len(b) {
		return node{}, syntaxError(b)
	}
	return n, nil
}

// syntaxError words what is wrong with b, with its place.
func syntaxError(b []byte) error {
	var raw json.RawMessage
	err := json.Unmarshal(b, &raw)
	if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
		return fmt.Errorf("offset %d: %w", bad.Offset, err)
	}
	return fmt.Errorf("not JSON: %w", err)
}

// maxLevels bounds the nesting, as encoding/json does.
const maxLevels = 10_000

// reader walks JSON. Once bad is set, what it gives means nothing.
type reader struct {
	b   []byte
	i   int
	bad bool
}

// fail ends the walk.
func (r *reader) fail() { r.bad, r.i = true, len(r.b) }

// peek gives the next byte, or 0 at the end.
func (r *reader) peek() byte {
	if r.i >= len(r.b) {
		return 0
	}
	return r.b[r.i]
}

func (r *reader) space() {
	for r.i < len(r.b) && (r.b[r.i] == ' ' || r.b[r.i] == '\n' || r.b[r.i] == '\t' || r.b[r.i] == '\r') {
		r.i++
	}
}

func (r *reader) value(level int) node {
	r.space()
	c := r.peek()
	switch {
	case c == '{' || c == '[':
		if level < maxLevels {
			return r.container(c, level)
		}
	case c == '"':
		return stringNode(r.quoted())
	default:
		if lit := r.literal(); lit != nil {
			return literalNode(lit)
		}
	}
	r.fail()
	return node{}
}

// literal steps over a number, true, false or null.
func (r *reader) literal() json.RawMessage {
	start := r.i
	for r.i < len(r.b) && !bytes.ContainsRune([]byte(" \t\r\n,]}:\"[{"), rune(r.b[r.i])) {
		r.i++
	}
	lit := r.b[start:r.i]
	switch string(lit) {
	case "true", "false", "null":
		return lit
	}
	if isNumber(strings.TrimPrefix(string(lit), "-")) {
		return lit
	}
	return nil
}

// plain marks the bytes that stand for themselves in a string.
var plainByte = func() (t [256]bool) {
	for i := range t {
		t[i] = i >= ' ' && i != '"' && i != '\\'
	}
	return t
}()

// quoted steps over a string and gives it with its quotes.
func (r *reader) quoted() json.RawMessage {
	start := r.i
	for r.i++; r.i < len(r.b); {
		switch c := r.b[r.i]; {
		case plainByte[c]:
			r.i++
		case c == '"':
			r.i++
			return r.b[start:r.i]
		case c == '\\' && r.escaped():
		default:
			r.fail()
		}
	}
	r.fail()
	return nil
}

// escaped steps over a backslash sequence.
func (r *reader) escaped() bool {
	rest := r.b[r.i+1:]
	if len(rest) > 0 && strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0 {
		r.i += 2
		return true
	}
	if len(rest) < 5 || rest[0] != 'u' {
		return false
	}
	for _, c := range rest[1:5] {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	r.i += 6
	return true
}

// container reads an object or an array. Closers stand two after their openers.
func (r *reader) container(opener byte, level int) node {
	n, start := node{kind: opener}, r.i
	r.i++
	if r.space(); r.peek() != opener+2 {
		r.member(&n, level)
		for r.space(); r.peek() == ','; r.space() {
			r.i++
			r.member(&n, level)
		}
	}
	if r.peek() != opener+2 {
		r.fail()
		return n
	}
	r.i++
	n.raw = r.b[start:r.i]
	n.sum()
	return n
}

func (r *reader) member(n *node, level int) {
	if n.kind == '{' {
		r.space()
		if r.peek() != '"' {
			r.fail()
			return
		}
		raw := r.quoted()
		if r.space(); r.peek() != ':' {
			r.fail()
			return
		}
		r.i++
		n.keys = append(n.keys, key{unquote(raw), raw})
	}
	n.kids = append(n.kids, r.value(level+1))
}
