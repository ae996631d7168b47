package shape

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Marshal writes JSON without HTML escaping: models and people read it.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Loose is a string that servers also write as a number, as true or as null.
// Objects and arrays read as "".
type Loose string

// UnmarshalJSON never fails.
func (l *Loose) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) == 0 || b[0] == '{' || b[0] == '[' || string(b) == "null":
	case b[0] == '"':
		var s string
		if json.Unmarshal(b, &s) == nil {
			*l = Loose(s)
		}
	default:
		*l = Loose(b)
	}
	return nil
}

// LooseInt is an integer that servers also write as "3", 3.0 or null.
// Anything else reads as 0.
type LooseInt int

// UnmarshalJSON never fails.
func (n *LooseInt) UnmarshalJSON(b []byte) error {
	if i, err := strconv.Atoi(string(b)); err == nil && i > -1e15 && i < 1e15 {
		*n = LooseInt(i)
		return nil
	}
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err == nil && f > -1e15 && f < 1e15 {
		*n = LooseInt(f)
	}
	return nil
}

// Lax is a field that servers also write in another shape, or as null: what is
// no T reads as the zero T.
type Lax[T any] struct{ Is T }

// UnmarshalJSON never fails.
func (l *Lax[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.Is = v
	}
	return nil
}

// IsObject reports whether b is one JSON object and nothing else.
func IsObject(b []byte) bool {
	s := scanner{b: b}
	s.space()
	return s.peek() == '{' && s.skip() == nil && s.end() == nil
}
