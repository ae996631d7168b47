package shape

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// Write writes t by its json tags, as Marshal does, with more fields behind its
// own. RawMessages and Values are copied as they are.
func (s Shape[T]) Write(t T, more Fields) json.RawMessage { return s.Copy(&t, more) }

// Copy is Write for what stays where it is.
func (s Shape[T]) Copy(t *T, more Fields) json.RawMessage { return s.Between("", t, more, "") }

// Between is Copy with what stands around the object.
func (s Shape[T]) Between(before string, t *T, more Fields, after string) json.RawMessage {
	return s.Onto(nil, before, t, more, after)
}

// Onto is Between at the end of b, which grows once.
func (s Shape[T]) Onto(b []byte, before string, t *T, more Fields, after string) json.RawMessage {
	v := reflect.ValueOf(t).Elem()
	b = slices.Grow(b, len(before)+s.fields.guess(v)+more.length()+len(after))
	return append(more.Behind(s.fields.write(append(b, before...), v)), after...)
}

// length is about as long as the fields are when they are written.
func (f Fields) length() (n int) {
	for i := range f {
		n += len(f[i].Name) + len(f[i].Value) + 4
	}
	return n
}

// Behind adds the fields to an object that is written.
func (f Fields) Behind(b []byte) []byte {
	if len(f) == 0 {
		return b
	}
	if b = b[:len(b)-1]; b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return f.append(b)
}

// append writes the fields and closes the object.
func (f Fields) append(b []byte) []byte {
	for i := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(quoted(b, f[i].Name), ':'), f[i].Value...)
	}
	return append(b, '}')
}

// guess is about as long as a struct is when it is written.
func (f *fields) guess(v reflect.Value) int {
	n := f.bytes + 16
	for i := range f.order {
		m := &f.order[i]
		switch field := v.Field(m.index); m.kind {
		case aText, aLoose, aRaw:
			n += field.Len() + 8
		case aValue:
			n += field.Field(0).Len()
		case values:
			for i := range field.Len() {
				n += field.Index(i).Field(0).Len() + 1
			}
		case aList:
			n += 128
		case aStruct:
			n += m.fields.guess(field)
		case aPointer:
			if m.elem.kind == aStruct && !field.IsNil() {
				n += m.elem.fields.guess(field.Elem())
			}
		}
	}
	return n
}

func (f *fields) write(b []byte, v reflect.Value) []byte {
	b = append(b, '{')
	first := true
	for i := range f.order {
		m := &f.order[i]
		field := v.Field(m.index)
		if m.omits && m.isEmpty(field) {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = m.write(append(b, m.prefix...), field)
	}
	return append(b, '}')
}

func (m *member) isEmpty(v reflect.Value) bool {
	switch m.kind {
	case aText, aLoose:
		return v.Len() == 0
	case aRaw, aList, values:
		return v.Len() == 0 && (!m.zero || v.IsNil())
	case aValue:
		return v.Field(0).Len() == 0
	case aPointer:
		return v.IsNil()
	}
	return v.IsZero()
}

// write writes a value behind b.
func (p *plan) write(b []byte, v reflect.Value) []byte {
	switch p.kind {
	case aRaw:
		return writeRaw(b, v)
	case aValue:
		return writeRaw(b, v.Field(0))
	case aText, aLoose:
		return quoted(b, v.String())
	case aBool:
		return strconv.AppendBool(b, v.Bool())
	case anInt, aLooseInt:
		return strconv.AppendInt(b, v.Int(), 10)
	case aFloat:
		return writeFloat(b, v)
	case aStruct:
		return p.fields.write(b, v)
	case aPointer:
		if v.IsNil() {
			return append(b, "null"...)
		}
		return p.elem.write(b, v.Elem())
	}
	return p.writeList(b, v)
}

func (p *plan) writeList(b []byte, v reflect.Value) []byte {
	if v.IsNil() {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if p.kind == values {
			b = writeRaw(b, v.Index(i).Field(0))
		} else {
			b = p.elem.write(b, v.Index(i))
		}
	}
	return append(b, ']')
}

func writeRaw(b []byte, v reflect.Value) []byte {
	if v.Len() == 0 {
		return append(b, "null"...)
	}
	return append(b, v.Bytes()...)
}

// writeFloat writes a number; there is none in JSON for a NaN or an infinity.
func writeFloat(b []byte, v reflect.Value) []byte {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}
