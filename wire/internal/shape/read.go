package shape

import (
	"reflect"
	"strconv"
)

// Read reads v.
func (s Shape[T]) Read(v Value) (T, *Error) {
	var t T
	return t, s.read(&t, v, false)
}

// Into reads v into t, which may hold what was read before: texts that have not
// changed, pointers and lists keep their memory. It is Read for streams, whose
// events are much alike; what Into has read is good until the next Into.
func (s Shape[T]) Into(t *T, v Value) *Error { return s.read(t, v, true) }

func (s Shape[T]) read(t *T, v Value, again bool) *Error {
	in := v.scan()
	in.again = again
	in.space()
	err := in.fields(s.fields, reflect.ValueOf(t).Elem())
	if err == nil {
		err = in.end()
	}
	return err
}

// Field reads the value of a field, of which an error tells the name. An absent
// one is zero.
func (s Shape[T]) Field(name string, v Value) (t T, err *Error) {
	if !v.IsZero() {
		t, err = s.Read(v)
	}
	return t, Inside(err, name, -1)
}

// ReadAll reads each element of a list.
func (s Shape[T]) ReadAll(list []Value) ([]T, *Error) {
	out := make([]T, len(list))
	for i, v := range list {
		if err := s.read(&out[i], v, false); err != nil {
			return nil, Inside(err, "", i)
		}
	}
	return out, nil
}

// find is the place of a field in order. Objects of one kind mostly have their
// fields in one order: at is the place to look at first.
func (f *fields) find(name []byte, at int) int {
	if at < len(f.order) && f.order[at].name == string(name) {
		return at
	}
	if i, ok := f.byName[string(name)]; ok {
		return i
	}
	return -1
}

// fields reads an object.
func (s *scanner) fields(f *fields, v reflect.Value) *Error {
	if err := s.open('{', "an object"); err != nil {
		return err
	}
	if s.again {
		f.forget(v)
	}
	at, seen := 0, uint64(0)
	for first := true; ; first = false {
		if done, err := s.more('}', first); done || err != nil {
			if s.again {
				f.clear(v, seen)
			}
			return err
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		i := f.find(name, at)
		switch {
		case i < 0:
			err = s.other(f, name, v)
		case s.peek() == 'n' && s.word("null"):
		default:
			seen |= 1 << i
			err = s.into(&f.order[i].plan, v.Field(f.order[i].index))
		}
		if err != nil {
			return Inside(err, string(name), -1)
		}
		at = i + 1
	}
}

// other reads a field that the struct does not name.
func (s *scanner) other(f *fields, name []byte, v reflect.Value) *Error {
	if f.rest < 0 {
		return s.skip()
	}
	rest := v.Field(f.rest).Addr().Interface().(*Fields)
	key := rest.next(name)
	raw, err := s.value()
	*rest = append(*rest, Field{key, raw})
	return err
}

// next is the name of the field that will be added; the memory of one that was
// there before is taken again.
func (f Fields) next(name []byte) string {
	if n := len(f); n < cap(f) && f[:n+1][n].Name == string(name) {
		return f[:n+1][n].Name
	}
	return string(name)
}

// forget drops the fields without a name that were read before.
func (f *fields) forget(v reflect.Value) {
	if f.rest >= 0 {
		v.Field(f.rest).SetLen(0)
	}
}

// clear empties the fields that were not there this time.
func (f *fields) clear(v reflect.Value, seen uint64) {
	for i := range f.order {
		if seen>>i&1 == 0 {
			v.Field(f.order[i].index).SetZero()
		}
	}
}

// into reads one value by its plan.
func (s *scanner) into(p *plan, v reflect.Value) *Error {
	switch p.kind {
	case aText:
		return s.readText(v)
	case aValue:
		return s.readValue(v)
	case aRaw:
		raw, err := s.value()
		v.SetBytes(raw)
		return err
	case aStruct:
		return s.fields(p.fields, v)
	case aPointer:
		if v.IsNil() {
			v.Set(reflect.New(p.of.Elem()))
		}
		return s.into(p.elem, v.Elem())
	case aList:
		return s.list(p, v)
	case values:
		return s.values(v.Addr().Interface().(*[]Value))
	case aLoose, aLooseInt:
		return s.readLoose(v)
	case aBool:
		return s.readBool(v)
	case anInt:
		return s.readInt(v)
	}
	return s.readFloat(v)
}

func (s *scanner) list(p *plan, v reflect.Value) *Error {
	if err := s.open('[', "an array"); err != nil {
		return err
	}
	if v.IsNil() {
		v.Set(reflect.MakeSlice(p.of, 0, 4))
	}
	v.SetLen(0)
	for i := 0; ; i++ {
		if done, err := s.more(']', i == 0); done || err != nil {
			return err
		}
		if i == v.Cap() {
			v.Grow(i)
		}
		v.SetLen(i + 1)
		at := v.Index(i)
		if s.peek() == 'n' && s.word("null") {
			at.SetZero()
			continue
		}
		if err := s.into(p.elem, at); err != nil {
			return Inside(err, "", i)
		}
	}
}

func (s *scanner) values(list *[]Value) *Error {
	if err := s.open('[', "an array"); err != nil {
		return err
	}
	if *list = (*list)[:0]; *list == nil {
		*list = []Value{}
	}
	for i := 0; ; i++ {
		if done, err := s.more(']', i == 0); done || err != nil {
			return err
		}
		var v Value
		if at := s.base + s.i; !(s.peek() == 'n' && s.word("null")) {
			raw, err := s.value()
			if err != nil {
				return Inside(err, "", i)
			}
			v = Value{raw, at, true}
		}
		*list = append(*list, v)
	}
}

func (s *scanner) readValue(v reflect.Value) *Error {
	at := s.base + s.i
	raw, err := s.value()
	*v.Addr().Interface().(*Value) = Value{raw, at, err == nil}
	return err
}

func (s *scanner) readText(v reflect.Value) *Error {
	if s.peek() != '"' {
		return s.fail("a string")
	}
	inner, escaped, err := s.quoted()
	switch {
	case escaped:
		v.SetString(unescape(inner))
	case v.String() != string(inner):
		v.SetString(string(inner))
	}
	return err
}

func (s *scanner) readLoose(v reflect.Value) *Error {
	if v.Kind() == reflect.String && s.peek() == '"' {
		return s.readText(v)
	}
	raw, err := s.value()
	if err != nil {
		return err
	}
	switch to := v.Addr().Interface().(type) {
	case *Loose:
		*to = ""
		_ = to.UnmarshalJSON(raw)
	case *LooseInt:
		*to = 0
		_ = to.UnmarshalJSON(raw)
	}
	return nil
}

func (s *scanner) readBool(v reflect.Value) *Error {
	switch {
	case s.word("true"):
		v.SetBool(true)
	case s.word("false"):
		v.SetBool(false)
	default:
		return s.fail("true or false")
	}
	return nil
}

// readInt takes 3.0 and 3e2 too.
func (s *scanner) readInt(v reflect.Value) *Error {
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

func (s *scanner) readFloat(v reflect.Value) *Error {
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
