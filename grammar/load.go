package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Load reads a record from JSON and checks it. Its errors name the line. Package
// dialect also tries what it loads.
func Load(b []byte) (*Grammar, error) {
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields()
	g := new(Grammar)
	err := dec.Decode(g)
	if err == nil {
		if _, more := dec.Token(); more != io.EOF {
			err = errors.New("want one record, and nothing after it")
		}
	}
	if err != nil {
		return nil, unreadable(b, dec.InputOffset(), err)
	}
	err = Check(g)
	if f, ok := errors.AsType[*fault](err); ok {
		f.line = lineOf(b, f.field)
		return nil, f
	}
	return g, err
}

// unreadable says in which line JSON is not what a record wants.
func unreadable(b []byte, at int64, err error) error {
	var text string
	syntax, isSyntax := errors.AsType[*json.SyntaxError](err)
	wrong, isWrong := errors.AsType[*json.UnmarshalTypeError](err)
	field, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case isSyntax:
		at, text = syntax.Offset, "this is no JSON: "+err.Error()
	case isWrong:
		at, text = wrong.Offset, fmt.Sprintf("%s: want %s, not %s", wrong.Field, wanted(wrong.Type), wrong.Value)
	case unknown:
		text = fmt.Sprintf("unknown field %s: a record has %s", field, strings.Join(fieldNames(), ", "))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at, text = int64(len(b)), "the JSON ends too early"
	default:
		text = err.Error()
	}
	return fmt.Errorf("grammar: line %d: %s", 1+strings.Count(string(b[:min(int(at), len(b))]), "\n"), text)
}

// wanted says what a field takes.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// fieldNames lists the keys of a record.
func fieldNames() (names []string) {
	for f := range reflect.TypeFor[Grammar]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// lineOf is the line of a field such as "call.open", or of what holds it.
func lineOf(b []byte, field string) int {
	at := 0
	for name := range strings.SplitSeq(field, ".") {
		i := strings.Index(string(b[at:]), `"`+name+`"`)
		if i < 0 {
			break
		}
		at += i
	}
	return 1 + strings.Count(string(b[:at]), "\n")
}
