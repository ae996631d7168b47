package shape

import (
	"encoding/json"
	"strconv"
)

// maxDepth is how deep JSON may be nested.
const maxDepth = 1000

// scanner reads JSON text once, from the front.
type scanner struct {
	b     []byte
	i     int
	base  int // offset of b in the body
	depth int
	again bool // into what was read before
	sound bool // b was read before and is JSON
}

func (v Value) scan() scanner { return scanner{b: v.Raw, base: v.Offset, sound: v.sound} }

func (s *scanner) fail(want string) *Error {
	return &Error{Offset: s.base + s.i, Want: want}
}

func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// end wants nothing more.
func (s *scanner) end() *Error {
	if s.space(); s.i < len(s.b) {
		return s.fail("nothing behind the JSON value")
	}
	return nil
}

// value passes over any JSON value and gives its text.
func (s *scanner) value() (json.RawMessage, *Error) {
	start := s.i
	if err := s.skip(); err != nil {
		return nil, err
	}
	return s.b[start:s.i:s.i], nil
}

func (s *scanner) skip() *Error {
	if s.sound {
		s.pass()
		return nil
	}
	end := over(s.b, s.i, maxDepth-s.depth)
	if end < 0 {
		return s.wrong()
	}
	s.i = end
	return nil
}

// wrong passes over a value as far as it is JSON, and says where it is none.
func (s *scanner) wrong() *Error {
	switch c := s.peek(); {
	case c == '"':
		_, _, err := s.quoted()
		return err
	case c == '{':
		return s.object(func([]byte) *Error { return s.wrong() })
	case c == '[':
		return s.array(func(int) *Error { return s.wrong() })
	case c == '-', c >= '0' && c <= '9':
		return s.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if s.word(word) {
			return nil
		}
	}
	return s.fail("a JSON value")
}

func (s *scanner) word(w string) bool {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return false
	}
	s.i += len(w)
	return true
}

// object reads "{…}". f reads the value of each member; name is valid until it
// returns.
func (s *scanner) object(f func(name []byte) *Error) *Error {
	if err := s.open('{', "an object"); err != nil {
		return err
	}
	for first := true; ; first = false {
		if done, err := s.more('}', first); done || err != nil {
			return err
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		if err := f(name); err != nil {
			return err
		}
	}
}

func (s *scanner) name() ([]byte, *Error) {
	name, escaped, err := s.key()
	if escaped && err == nil {
		name = []byte(unescape(name))
	}
	return name, err
}

// key passes over a field's name and its colon.
func (s *scanner) key() (name []byte, escaped bool, err *Error) {
	if s.peek() != '"' {
		return nil, false, s.fail("a field name in quotes")
	}
	if name, escaped, err = s.quoted(); err != nil {
		return nil, false, err
	}
	if s.peek() != ':' {
		s.space()
	}
	if s.peek() != ':' {
		return nil, false, s.fail("a colon")
	}
	if s.i++; s.peek() <= ' ' {
		s.space()
	}
	return name, escaped, nil
}

// array reads "[…]". f reads each element.
func (s *scanner) array(f func(i int) *Error) *Error {
	if err := s.open('[', "an array"); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if done, err := s.more(']', i == 0); done || err != nil {
			return err
		}
		if err := f(i); err != nil {
			return err
		}
	}
}

func (s *scanner) open(c byte, what string) *Error {
	if s.space(); s.peek() != c {
		return s.fail(what)
	}
	if s.depth++; s.depth > maxDepth {
		return s.fail("at most " + strconv.Itoa(maxDepth) + " levels of nesting")
	}
	s.i++
	return nil
}

// more stands before the next element, or has passed the closer.
func (s *scanner) more(closer byte, first bool) (done bool, err *Error) {
	c := s.peek()
	if c <= ' ' {
		s.space()
		c = s.peek()
	}
	switch {
	case c == closer && s.i < len(s.b):
		s.i++
		s.depth--
		return true, nil
	case first:
		return false, nil
	case c == ',':
		if s.i++; s.peek() <= ' ' {
			s.space()
		}
		return false, nil
	}
	return false, s.fail("a comma or " + string(closer))
}

func (s *scanner) text() (string, *Error) {
	if s.peek() != '"' {
		return "", s.fail("a string")
	}
	inner, escaped, err := s.quoted()
	if err != nil {
		return "", err
	}
	if escaped {
		return unescape(inner), nil
	}
	return string(inner), nil
}

func (s *scanner) digits() bool {
	from := s.i
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.i++
	}
	return s.i > from
}

func (s *scanner) number() *Error {
	if s.peek() == '-' {
		s.i++
	}
	switch {
	case s.peek() == '0':
		s.i++
	case !s.digits():
		return s.fail("a digit")
	}
	if s.peek() == '.' {
		if s.i++; !s.digits() {
			return s.fail("a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		if !s.digits() {
			return s.fail("a digit")
		}
	}
	return nil
}
