package wire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
)

// InputError is a client's request, or a field of it, that cannot be read.
type InputError struct {
	Path   string // "messages[2].content[0].text"; "" is the whole body
	Offset int    // in the body, in bytes; -1: not in the body
	Want   string // what should have stood there
}

// Error says where and what was wanted.
func (e *InputError) Error() string {
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
func Inside(err *InputError, name string, i int) *InputError {
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
func Body(b []byte) (Value, *InputError) {
	if at := notUTF8(b); at >= 0 {
		return Value{}, &InputError{Offset: at, Want: "UTF-8"}
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

// CheckTools wants a name for every tool, and each name once.
func CheckTools(tools []utp.Tool) *InputError {
	seen := map[string]bool{}
	for i, t := range tools {
		path := fmt.Sprintf("tools[%d].name", i)
		switch {
		case t.Name == "":
			return &InputError{Path: path, Offset: -1, Want: "a name"}
		case seen[t.Name]:
			return &InputError{Path: path, Offset: -1, Want: "every name once, not a second " + t.Name}
		}
		seen[t.Name] = true
	}
	return nil
}

// Get is the first value of a header, whatever the case of its name.
func (r HTTPRequest) Get(header string) string {
	for name, values := range r.Header {
		if strings.EqualFold(name, header) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}
