package shape

import (
	"encoding/json"
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
	if v.Kind() != '"' {
		return ""
	}
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
