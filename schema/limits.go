package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
)

// Limits bound the schema of a tool: compiling takes more than twice as long for
// twice the keys. Zero is the default named here. A larger schema than the
// defaults let pass is not compiled, and its tool's arguments are not checked.
type Limits struct {
	Bytes int // 256 KiB
	Keys  int // of all its objects: 10,000
	Depth int // of objects and lists in each other: 100
}

const (
	maxBytes  = 256 << 10
	maxKeys   = 10_000
	maxNested = 100
)

// harmless is a size in bytes that cannot hold enough of anything to matter.
const harmless = 8 << 10

// Check says in what a schema exceeds the limits, in one pass over it.
func (l Limits) Check(schema json.RawMessage) error {
	if l == (Limits{}) && len(schema) <= harmless {
		return nil
	}
	most := Limits{cmp.Or(l.Bytes, maxBytes), cmp.Or(l.Keys, maxKeys), cmp.Or(l.Depth, maxNested)}
	if len(schema) > most.Bytes {
		return fmt.Errorf("it has %d bytes: want %d at most", len(schema), most.Bytes)
	}
	keys, depth, quoted := 0, 0, false
	for i := 0; i < len(schema); i++ {
		c := schema[i]
		switch {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ':':
			keys++
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			depth--
		}
		if keys > most.Keys {
			return fmt.Errorf("it has more than %d keys, such as properties", most.Keys)
		}
		if depth > most.Depth {
			return fmt.Errorf("its objects and lists stand in each other more than %d deep", most.Depth)
		}
	}
	return nil
}
