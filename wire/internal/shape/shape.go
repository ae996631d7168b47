package shape

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Shape writes the struct T as a JSON object by its json tags, and reads one into
// it as encoding/json does, but strictly: names are matched exactly, a value of another type is an
// *Error with its path and offset, null is the same as absent, and what T
// does not name goes into its field of type Fields, if it has one. T may hold
// strings, bools, ints, floats, Loose, LooseInt, json.RawMessage, Value, and
// structs, pointers and slices of those. RawMessages and Values share the memory
// of the body.
type Shape[T any] struct{ fields *fields }

// Of makes the shape of T. It panics if T holds a type that it cannot read.
func Of[T any]() Shape[T] { return Shape[T]{shapes{}.fields(reflect.TypeFor[T]())} }

// ProtoOf makes the shape of T that takes each name in snake_case too, as
// protocol buffers do.
func ProtoOf[T any]() Shape[T] {
	return Shape[T]{shapes{proto: true}.fields(reflect.TypeFor[T]())}
}

// Read reads v.
func (s Shape[T]) Read(v Value) (T, *Error) {
	var t T
	in := scanner{b: v.Raw, base: v.Offset}
	in.space()
	err := s.fields.read(&in, reflect.ValueOf(&t).Elem())
	if err == nil {
		err = in.end()
	}
	return t, err
}

// ReadAll reads each element of a list.
func (s Shape[T]) ReadAll(list []Value) ([]T, *Error) {
	out := make([]T, len(list))
	for i, v := range list {
		t, err := s.Read(v)
		if err != nil {
			return nil, Inside(err, "", i)
		}
		out[i] = t
	}
	return out, nil
}

// reading reads one value into v.
type reading func(s *scanner, v reflect.Value) *Error

// fields is a struct with its fields by name.
type fields struct {
	byName map[string]member
	order  []member
	rest   int // the field of type Fields; -1: none
}

type member struct {
	index  int
	read   reading
	write  writing
	prefix string // the name and a colon
	omits  bool   // left out where it is empty
	zero   bool   // or zero
}

func (f *fields) read(s *scanner, v reflect.Value) *Error {
	return s.object(func(name []byte) *Error {
		if m, ok := f.byName[string(name)]; ok {
			if s.peek() == 'n' && s.word("null") {
				return nil
			}
			if err := m.read(s, v.Field(m.index)); err != nil {
				return Inside(err, string(name), -1)
			}
			return nil
		}
		if f.rest < 0 {
			return s.skip()
		}
		key := string(name)
		raw, err := s.value()
		if err != nil {
			return Inside(err, key, -1)
		}
		rest := v.Field(f.rest).Addr().Interface().(*Fields)
		*rest = append(*rest, Field{key, raw})
		return nil
	})
}

// shapes builds readings.
type shapes struct{ proto bool }

func (b shapes) fields(t reflect.Type) *fields {
	f := &fields{byName: map[string]member{}, rest: -1}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Type == reflect.TypeFor[Fields]():
			f.rest = i
			continue
		case name == "-" || !field.IsExported():
			continue
		}
		m := member{index: i, read: b.reading(field.Type), write: b.writing(field.Type), prefix: string(quoted(nil, name)) + ":"}
		m.options(field.Tag.Get("json"))
		f.byName[name], f.order = m, append(f.order, m)
		if b.proto {
			f.byName[snake(name)] = m
		}
	}
	return f
}

// snake is a camelCase name in snake_case.
func snake(name string) string {
	var out []byte
	for _, c := range []byte(name) {
		if c >= 'A' && c <= 'Z' {
			out = append(out, '_', c|0x20)
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

func (b shapes) reading(t reflect.Type) reading {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return readRaw
	case reflect.TypeFor[Value]():
		return readValue
	case reflect.TypeFor[Loose](), reflect.TypeFor[LooseInt]():
		return readLoose
	}
	switch t.Kind() {
	case reflect.String:
		return readString
	case reflect.Bool:
		return readBool
	case reflect.Int, reflect.Int64:
		return readInt
	case reflect.Float64:
		return readFloat
	case reflect.Struct:
		return b.fields(t).read
	case reflect.Pointer:
		return b.pointer(t.Elem())
	case reflect.Slice:
		return b.slice(t)
	}
	panic(fmt.Sprintf("wire: a shape cannot hold a %s", t))
}

func (b shapes) pointer(t reflect.Type) reading {
	read := b.reading(t)
	return func(s *scanner, v reflect.Value) *Error {
		v.Set(reflect.New(t))
		return read(s, v.Elem())
	}
}

func (b shapes) slice(t reflect.Type) reading {
	read := b.reading(t.Elem())
	return func(s *scanner, v reflect.Value) *Error {
		v.Set(reflect.MakeSlice(t, 0, 0))
		return s.array(func(i int) *Error {
			v.Set(reflect.Append(v, reflect.Zero(t.Elem())))
			if s.peek() == 'n' && s.word("null") {
				return nil
			}
			return Inside(read(s, v.Index(i)), "", i)
		})
	}
}

func readRaw(s *scanner, v reflect.Value) *Error {
	raw, err := s.value()
	v.SetBytes(raw)
	return err
}

func readValue(s *scanner, v reflect.Value) *Error {
	at := s.base + s.i
	raw, err := s.value()
	*v.Addr().Interface().(*Value) = Value{raw, at}
	return err
}

func readLoose(s *scanner, v reflect.Value) *Error {
	if v.Kind() == reflect.String && s.peek() == '"' {
		return readString(s, v)
	}
	raw, err := s.value()
	if err != nil {
		return err
	}
	switch to := v.Addr().Interface().(type) {
	case *Loose:
		_ = to.UnmarshalJSON(raw)
	case *LooseInt:
		_ = to.UnmarshalJSON(raw)
	}
	return nil
}

func readString(s *scanner, v reflect.Value) *Error {
	text, err := s.text()
	v.SetString(text)
	return err
}

func readBool(s *scanner, v reflect.Value) *Error {
	switch {
	case s.word("true"):
		v.SetBool(true)
	case !s.word("false"):
		return s.fail("true or false")
	}
	return nil
}

// readInt takes 3.0 and 3e2 too.
func readInt(s *scanner, v reflect.Value) *Error {
	text, err := s.numeral()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		v.SetInt(n)
		return nil
	}
	f, bad := strconv.ParseFloat(text, 64)
	if bad != nil || f != float64(int64(f)) || f >= 1<<53 || f <= -1<<53 {
		s.i -= len(text)
		return s.fail("an integer")
	}
	v.SetInt(int64(f))
	return nil
}

func readFloat(s *scanner, v reflect.Value) *Error {
	text, err := s.numeral()
	if err != nil {
		return err
	}
	f, bad := strconv.ParseFloat(text, 64)
	if bad != nil {
		s.i -= len(text)
		return s.fail("a number that a 64 bit float can hold")
	}
	v.SetFloat(f)
	return nil
}

func (s *scanner) numeral() (string, *Error) {
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		return "", s.fail("a number")
	}
	start := s.i
	err := s.number()
	return string(s.b[start:s.i]), err
}
