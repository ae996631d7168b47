package schema

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a Python literal.
const maxDepth = 200

// python turns a Python list, tuple or dict literal into JSON. Strings may
// use either quote; keys must be strings. Anything else is no literal.
func python(text string) (json.RawMessage, bool) {
	p := pyReader{s: strings.TrimSpace(text)}
	if p.s == "" || strings.IndexByte("[{(", p.s[0]) < 0 {
		return nil, false
	}
	if !p.value(0) {
		return nil, false
	}
	p.space()
	out := json.RawMessage(p.out.String())
	return out, p.i == len(p.s) && json.Valid(out)
}

type pyReader struct {
	s   string
	i   int
	out strings.Builder
}

func (p *pyReader) space() {
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.i]) >= 0 {
		p.i++
	}
}

func (p *pyReader) peek() byte {
	p.space()
	if p.i == len(p.s) {
		return 0
	}
	return p.s[p.i]
}

func (p *pyReader) value(depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch p.peek() {
	case '{':
		return p.list('{', '}', depth)
	case '[':
		return p.list('[', ']', depth)
	case '(':
		return p.list('[', ')', depth)
	case '"', '\'':
		return p.str()
	}
	return p.word()
}

// list reads members up to the closer and writes them within opener's pair.
func (p *pyReader) list(opener, closer byte, depth int) bool {
	p.i++
	p.out.WriteByte(opener)
	for first := true; p.peek() != closer; first = false {
		if !first {
			if p.peek() != ',' {
				return false
			}
			if p.i++; p.peek() == closer {
				break
			}
			p.out.WriteByte(',')
		}
		if opener == '{' && !p.key() || !p.value(depth+1) {
			return false
		}
	}
	p.i++
	p.out.WriteByte(opener + 2)
	return true
}

func (p *pyReader) key() bool {
	if c := p.peek(); c != '"' && c != '\'' || !p.str() || p.peek() != ':' {
		return false
	}
	p.i++
	p.out.WriteByte(':')
	return true
}

func (p *pyReader) str() bool {
	mark := p.s[p.i]
	var b strings.Builder
	for p.i++; p.i < len(p.s) && p.s[p.i] != mark; {
		if p.s[p.i] != '\\' {
			b.WriteByte(p.s[p.i])
			p.i++
			continue
		}
		if !p.escape(&b) {
			return false
		}
	}
	if p.i == len(p.s) {
		return false
	}
	p.i++
	p.out.Write(quote(b.String()))
	return true
}

// escape reads one backslash sequence. An unknown one stands for itself, as in Python.
func (p *pyReader) escape(b *strings.Builder) bool {
	rest := p.s[p.i:]
	if len(rest) < 2 {
		return false
	}
	if rest[1] == '\'' || rest[1] == '"' || rest[1] == '/' {
		b.WriteByte(rest[1])
		p.i += 2
		return true
	}
	r, _, tail, err := strconv.UnquoteChar(rest, 0)
	if err != nil {
		b.WriteByte('\\')
		p.i++
		return true
	}
	if r == utf8.RuneError {
		return false
	}
	b.WriteRune(r)
	p.i += len(rest) - len(tail)
	return true
}

var pyWords = map[string]string{"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}

func (p *pyReader) word() bool {
	start := p.i
	for p.i < len(p.s) && strings.IndexByte(" \t\r\n,:]})", p.s[p.i]) < 0 {
		p.i++
	}
	word := p.s[start:p.i]
	out, ok := pyWords[word]
	if !ok {
		out, ok = number(word)
	}
	p.out.WriteString(out)
	return ok
}
