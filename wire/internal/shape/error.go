package shape

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error is JSON that cannot be read as what it should be.
type Error struct {
	Path   string // "messages[2].content[0].text"; "" is the whole body
	Offset int    // in the body, in bytes; -1: not in the body
	Want   string // what should have stood there
}

// Error says where and what was wanted.
func (e *Error) Error() string {
	var words []string
	if e.Path != "" {
		words = append(words, e.Path)
	}
	if e.Offset >= 0 {
		words = append(words, fmt.Sprintf("offset %d", e.Offset))
	}
	return strings.Join(append(words, "want "+e.Want), ": ")
}

// Inside says that err happened in the field name, or in its element i if i ≥ 0.
func Inside(err *Error, name string, i int) *Error {
	if err == nil {
		return nil
	}
	if i >= 0 {
		name = fmt.Sprintf("%s[%d]", name, i)
	}
	switch {
	case err.Path == "":
		err.Path = name
	case name == "":
	case err.Path[0] == '[':
		err.Path = name + err.Path
	default:
		err.Path = name + "." + err.Path
	}
	return err
}

// Body is a request's body as a Value. It fails for what is not UTF-8 or not
// one JSON object.
func Body(b []byte) (Value, *Error) {
	if at := notUTF8(b); at >= 0 {
		return Value{}, &Error{Offset: at, Want: "UTF-8"}
	}
	return Value{Raw: b}, nil
}

// notUTF8 is where the first byte stands that is not UTF-8; -1: nowhere.
func notUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// Steps takes steps until one fails.
func Steps(steps ...func() *Error) *Error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
