package template

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template"
)

// function is one that templates may call, with least to most arguments; most is -1
// where there is no bound.
type function struct {
	least, most int
	do          func([]any) (any, error) // nil: and, or
}

func (f function) want() string {
	if f.least == f.most {
		return fmt.Sprint(f.least)
	}
	return fmt.Sprintf("at least %d", f.least)
}

// functions are those of text/template.
var functions = map[string]function{
	"and":      {1, -1, nil},
	"or":       {1, -1, nil},
	"not":      {1, 1, func(a []any) (any, error) { return !truth(a[0]), nil }},
	"print":    {0, -1, text(fmt.Sprint)},
	"println":  {0, -1, text(fmt.Sprintln)},
	"printf":   {1, -1, printf},
	"html":     {0, -1, text(template.HTMLEscaper)},
	"js":       {0, -1, text(template.JSEscaper)},
	"urlquery": {0, -1, text(template.URLQueryEscaper)},
	"len":      {1, 1, length},
	"index":    {1, -1, index},
	"slice":    {1, 3, slice},
	"eq":       {2, -1, equal},
	"ne":       {2, 2, func(a []any) (any, error) { same, err := isEqual(a[0], a[1]); return !same, err }},
	"lt":       {2, 2, ordered(func(c int) bool { return c < 0 })},
	"le":       {2, 2, ordered(func(c int) bool { return c <= 0 })},
	"gt":       {2, 2, ordered(func(c int) bool { return c > 0 })},
	"ge":       {2, 2, ordered(func(c int) bool { return c >= 0 })},
}

func text(do func(...any) string) func([]any) (any, error) {
	return func(a []any) (any, error) { return do(a...), nil }
}

func printf(a []any) (any, error) {
	format, ok := a[0].(string)
	if !ok {
		return nil, fmt.Errorf("wrong type for the format: want string, got %T", a[0])
	}
	return fmt.Sprintf(format, a[1:]...), nil
}

// list is a value that has elements.
func list(v any) (reflect.Value, error) {
	l := reflect.Indirect(reflect.ValueOf(v))
	switch l.Kind() {
	case reflect.Slice, reflect.Array, reflect.String:
		return l, nil
	}
	return l, fmt.Errorf("want a list or a text, got %T", v)
}

func length(a []any) (any, error) {
	l, err := list(a[0])
	if err != nil {
		return nil, err
	}
	return l.Len(), nil
}

// place is an index into something of a length, at most most.
func place(v any, most int) (int, error) {
	i := reflect.ValueOf(v)
	switch {
	case !i.CanInt() && !i.CanUint():
		return 0, fmt.Errorf("cannot index with type %T", v)
	case most < 0 || i.CanUint() && i.Uint() > uint64(most) || i.CanInt() && (i.Int() < 0 || i.Int() > int64(most)):
		return 0, fmt.Errorf("index out of range: %v", v)
	case i.CanUint():
		return int(i.Uint()), nil
	}
	return int(i.Int()), nil
}

// index is the element of an element of a list.
func index(a []any) (any, error) {
	v := a[0]
	for _, at := range a[1:] {
		l, err := list(v)
		if err != nil {
			return nil, err
		}
		i, err := place(at, l.Len()-1)
		if err != nil {
			return nil, err
		}
		v = l.Index(i).Interface()
	}
	return v, nil
}

// slice is a part of a slice or a text.
func slice(a []any) (any, error) {
	l, err := list(a[0])
	if err != nil {
		return nil, err
	}
	if l.Kind() == reflect.Array {
		return nil, errors.New("an array has no parts")
	}
	from, to := 0, l.Len()
	if len(a) > 2 {
		if to, err = place(a[2], to); err != nil {
			return nil, err
		}
	}
	if len(a) > 1 {
		if from, err = place(a[1], to); err != nil {
			return nil, err
		}
	}
	return l.Slice(from, to).Interface(), nil
}

var (
	errUnlike    = errors.New("incompatible types for comparison")
	errUnordered = errors.New("invalid type for comparison")
)

// plain is a value as the widest of its kind: numbers of Go's types compare so.
func plain(v any) any {
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return r.Int()
	case r.CanUint() && r.Uint() < 1<<63:
		return int64(r.Uint())
	case r.CanUint():
		return r.Uint()
	case r.CanFloat():
		return r.Float()
	case r.CanComplex():
		return r.Complex()
	case r.Kind() == reflect.String:
		return r.String()
	case r.Kind() == reflect.Bool:
		return r.Bool()
	case r.Kind() == reflect.Pointer && r.IsNil():
		return nil
	}
	return v
}

// equal tells whether the first is one of the others.
func equal(a []any) (any, error) {
	for _, b := range a[1:] {
		if same, err := isEqual(a[0], b); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func isEqual(a, b any) (bool, error) {
	a, b = plain(a), plain(b)
	switch x, y := reflect.TypeOf(a), reflect.TypeOf(b); {
	case x == nil || y == nil:
		return x == y, nil
	case isInteger(a) && isInteger(b):
		return a == b, nil
	case x != y:
		return false, errUnlike
	case !reflect.ValueOf(a).Comparable():
		return false, fmt.Errorf("non-comparable type %v", x)
	}
	return a == b, nil
}

func isInteger(v any) bool {
	switch v.(type) {
	case int64, uint64:
		return true
	}
	return false
}

// ordered is a comparison of numbers or texts.
func ordered(holds func(int) bool) func([]any) (any, error) {
	return func(a []any) (any, error) {
		c, err := order(plain(a[0]), plain(a[1]))
		return err == nil && holds(c), err
	}
}

func order(a, b any) (int, error) {
	switch x := a.(type) {
	case int64:
		if y, ok := b.(int64); ok {
			return cmp.Compare(x, y), nil
		}
		if isInteger(b) {
			return -1, nil
		}
	case uint64:
		if y, ok := b.(uint64); ok {
			return cmp.Compare(x, y), nil
		}
		if isInteger(b) {
			return 1, nil
		}
	case float64:
		if y, ok := b.(float64); ok {
			return cmp.Compare(x, y), nil
		}
	case string:
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), nil
		}
	default:
		return 0, errUnordered
	}
	return 0, errUnlike
}
