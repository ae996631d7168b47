package shape

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Value is a piece of JSON that knows where it stood in the body. The zero
// value is an absent one.
type Value struct {
	Raw    json.RawMessage
	Offset int
	sound  bool // it was read before and is JSON
}

// MarshalJSON writes the piece.
func (v Value) MarshalJSON() ([]byte, error) {
	if len(v.Raw) == 0 {
		return []byte("null"), nil
	}
	return v.Raw, nil
}

// Kind is the first byte, which tells the type: one of {["tfn-0…9, or 0 for an
// absent value.
func (v Value) Kind() byte {
	s := scanner{b: v.Raw}
	s.space()
	return s.peek()
}

// IsZero reports an absent value.
func (v Value) IsZero() bool { return len(v.Raw) == 0 }

// Text reads a string.
func (v Value) Text() (string, *Error) {
	s := v.scan()
	s.space()
	text, err := s.text()
	if err == nil {
		err = s.end()
	}
	return text, err
}

// String is a text, or "" for anything else.
func (v Value) String() string {
	s, err := v.Text()
	if err != nil {
		return ""
	}
	return s
}

// TextAt is the text in the first field of an object that has this name, without
// a look at what stands behind it; "" where there is none.
func (v Value) TextAt(name string) (string, *Error) {
	s := v.scan()
	if err := s.open('{', "an object"); err != nil {
		return "", err
	}
	for first := true; ; first = false {
		if done, err := s.more('}', first); done || err != nil {
			return "", err
		}
		key, err := s.name()
		switch {
		case err != nil:
			return "", err
		case string(key) != name:
			err = s.skip()
		case s.peek() == 'n' && s.word("null"):
		default:
			text, err := s.text()
			return text, Inside(err, name, -1)
		}
		if err != nil {
			return "", err
		}
	}
}

// Elements lists the elements of an array.
func (v Value) Elements() (out []Value, err *Error) {
	s := v.scan()
	err = s.array(func(i int) *Error {
		at := s.base + s.i
		raw, err := s.value()
		out = append(out, Value{raw, at, true})
		return Inside(err, "", i)
	})
	if err == nil {
		err = s.end()
	}
	return out, err
}

// Each takes the elements of an array one by one.
func (v Value) Each(f func(Value) *Error) *Error {
	list, err := v.Elements()
	if err != nil {
		return err
	}
	return Each(list, f)
}

// Each takes the elements of a list one by one; an error says which.
func Each(list []Value, f func(Value) *Error) *Error {
	for i, v := range list {
		if err := f(v); err != nil {
			return Inside(err, "", i)
		}
	}
	return nil
}

// Field is a member of a JSON object.
type Field struct {
	Name  string
	Value json.RawMessage
}

// Fields is a JSON object with its order, or as part of a struct the fields
// that the struct does not name.
type Fields []Field

// Get is the value of a field, or nil.
func (f Fields) Get(name string) json.RawMessage {
	for i := len(f) - 1; i >= 0; i-- {
		if f[i].Name == name {
			return f[i].Value
		}
	}
	return nil
}

// Text is the field as a text, or "".
func (f Fields) Text(name string) string { return Value{Raw: f.Get(name)}.String() }

// Set replaces a field or adds it at the end.
func (f Fields) Set(name string, value json.RawMessage) Fields {
	for i := range f {
		if f[i].Name == name {
			f[i].Value = value
			return f
		}
	}
	return append(f, Field{name, value})
}

// With adds a field unless v is absent.
func (f Fields) With(name string, v Value) Fields {
	if v.IsZero() {
		return f
	}
	return append(f, Field{name, v.Raw})
}

// WithText adds or replaces a text unless it is empty.
func (f Fields) WithText(name, text string) Fields {
	if text == "" {
		return f
	}
	return f.Set(name, Quote(text).Raw)
}

// Without is the fields but those named.
func (f Fields) Without(names ...string) (out Fields) {
next:
	for _, field := range f {
		for _, name := range names {
			if field.Name == name {
				continue next
			}
		}
		out = append(out, field)
	}
	return out
}

// Members lists the fields of an object.
func Members(v Value) (out Fields, err *Error) {
	s := v.scan()
	err = s.object(func(name []byte) *Error {
		key := string(name)
		raw, err := s.value()
		out = append(out, Field{key, raw})
		return Inside(err, key, -1)
	})
	if err == nil {
		err = s.end()
	}
	return out, err
}

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
	switch c := s.peek(); {
	case c == '"':
		_, _, err := s.quoted()
		return err
	case c == '{':
		return s.skipAll('{', '}')
	case c == '[':
		return s.skipAll('[', ']')
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

// skipAll passes over an object or an array.
func (s *scanner) skipAll(opener, closer byte) *Error {
	if err := s.open(opener, ""); err != nil {
		return err
	}
	for first := true; ; first = false {
		if done, err := s.more(closer, first); done || err != nil {
			return err
		}
		if opener == '{' {
			if _, _, err := s.key(); err != nil {
				return err
			}
		}
		if err := s.skip(); err != nil {
			return err
		}
	}
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
	s.i++
	s.space()
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
	s.space()
	switch c := s.peek(); {
	case c == closer && s.i < len(s.b):
		s.i++
		s.depth--
		return true, nil
	case first:
		return false, nil
	case c == ',':
		s.i++
		s.space()
		return false, nil
	}
	return false, s.fail("a comma or " + string(closer))
}

// quoted passes over a string and gives what stands between the quotes.
func (s *scanner) quoted() (inner []byte, escaped bool, err *Error) {
	if s.sound {
		return s.soundQuoted()
	}
	b, start := s.b, s.i+1
	for i := start; ; {
		if i += plainBytes(b[i:]); i == len(b) {
			break
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

// soundQuoted is quoted for what it has passed over before: only the end is looked for.
func (s *scanner) soundQuoted() (inner []byte, escaped bool, err *Error) {
	b, start := s.b, s.i+1
	for i := start; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return nil, false, s.fail("a closing quote")
		}
		i += n
		slashes := i
		for slashes > start && b[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			s.i = i + 1
			inner = b[start:i]
			return inner, bytes.IndexByte(inner, '\\') >= 0, nil
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

// plainBytes counts the bytes at the beginning of b that mean themselves in a string.
func plainBytes(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if m := marks(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < ' ' || c == '"' || c == '\\' {
			break
		}
	}
	return i
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
		n := bytes.IndexByte(b, '\\')
		if n < 0 {
			out.Write(b)
			return out.String()
		}
		out.Write(b[:n])
		if b = b[n:]; escapes[b[1]] != 0 {
			out.WriteByte(escapes[b[1]])
			b = b[2:]
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
