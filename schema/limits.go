package schema

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
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
	_, err := l.count(schema)
	return err
}

// CheckAll is Check for each schema of a list of tools, which may have twice the
// keys of one schema in all. Schemas of at most 8 KiB count only where limits are
// set. at is the first that is too large.
func (l Limits) CheckAll(tools []utp.Tool) (at int, err error) {
	most, all := 2*cmp.Or(l.Keys, maxKeys), 0
	for i, t := range tools {
		keys, err := l.count(t.Schema)
		if err != nil {
			return i, err
		}
		if all += keys; all > most {
			return i, fmt.Errorf("with it the tools have more than %d keys, such as properties", most)
		}
	}
	return 0, nil
}

// count returns the keys of a schema that is within the limits.
func (l Limits) count(schema json.RawMessage) (keys int, err error) {
	if l == (Limits{}) && len(schema) <= harmless {
		return 0, nil
	}
	most := Limits{cmp.Or(l.Bytes, maxBytes), cmp.Or(l.Keys, maxKeys), cmp.Or(l.Depth, maxNested)}
	if len(schema) > most.Bytes {
		return 0, fmt.Errorf("it has %d bytes: want %d at most", len(schema), most.Bytes)
	}
	depth, quoted := 0, false
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
			return 0, fmt.Errorf("it has more than %d keys, such as properties", most.Keys)
		}
		if depth > most.Depth {
			return 0, fmt.Errorf("its objects and lists stand in each other more than %d deep", most.Depth)
		}
	}
	return keys, nil
}
