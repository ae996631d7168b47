package shape

import (
	"encoding/json"
	"fmt"
	"reflect"
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

// kind tells how a value is read and written.
type kind uint8

const (
	aRaw kind = iota
	aValue
	aLoose
	aLooseInt
	aText
	aBool
	anInt
	aFloat
	aStruct
	aPointer
	aList
	values // a list of Values
)

// plan is how a type is read and written.
type plan struct {
	kind   kind
	of     reflect.Type
	fields *fields // of a struct
	elem   *plan   // of a pointer or a list
}

// fields is a struct with its fields by name.
type fields struct {
	byName map[string]int
	order  []member
	rest   int // the field of type Fields; -1: none
	bytes  int // of the names, the colons and the commas
}

type member struct {
	plan
	index  int
	name   string
	prefix string // the name and a colon
	omits  bool   // left out where it is empty
	zero   bool   // or zero
}

// shapes builds plans.
type shapes struct{ proto bool }

func (b shapes) fields(t reflect.Type) *fields {
	f := &fields{byName: map[string]int{}, rest: -1}
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Type == reflect.TypeFor[Fields]():
			f.rest = i
			continue
		case name == "-" || !field.IsExported():
			continue
		}
		m := member{plan: b.plan(field.Type), index: i, name: name, prefix: string(quoted(nil, name)) + ":"}
		m.omits, m.zero = options != "", options == "omitzero"
		f.byName[name] = len(f.order)
		if b.proto {
			f.byName[snake(name)] = len(f.order)
		}
		if f.order = append(f.order, m); len(f.order) > 64 {
			panic("shape: more than 64 fields: " + t.String())
		}
		f.bytes += len(m.prefix) + 1
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

// plainTypes are the types that are read and written as they are.
var plainTypes = map[reflect.Type]kind{
	reflect.TypeFor[json.RawMessage](): aRaw, reflect.TypeFor[Value](): aValue, reflect.TypeFor[[]Value](): values,
	reflect.TypeFor[Loose](): aLoose, reflect.TypeFor[LooseInt](): aLooseInt,
}

var plainKinds = map[reflect.Kind]kind{
	reflect.String: aText, reflect.Bool: aBool, reflect.Int: anInt, reflect.Int64: anInt, reflect.Float64: aFloat,
}

func (b shapes) plan(t reflect.Type) plan {
	if k, ok := plainTypes[t]; ok {
		return plan{kind: k, of: t}
	}
	if k, ok := plainKinds[t.Kind()]; ok {
		return plan{kind: k, of: t}
	}
	switch t.Kind() {
	case reflect.Struct:
		return plan{kind: aStruct, of: t, fields: b.fields(t)}
	case reflect.Pointer:
		elem := b.plan(t.Elem())
		return plan{kind: aPointer, of: t, elem: &elem}
	case reflect.Slice:
		elem := b.plan(t.Elem())
		return plan{kind: aList, of: t, elem: &elem}
	}
	panic(fmt.Sprintf("shape: cannot hold a %s", t))
}
