package arch

import (
	"fmt"
	"go/types"
	"slices"
)

// maxFields is how many fields one has to keep in mind to change the parser.
const maxFields = 20

// apart are the structs that Parser holds by value and whose fields do not count:
// what is being read of a call.
var apart = []string{"attempt", "call", "element", "value", "fence"}

func smallParser(h *House) []Finding {
	p := h.Package("parse")
	if p == nil {
		return nil
	}
	parser := p.types.Scope().Lookup("Parser")
	if parser == nil {
		return []Finding{{p.Path, "has no type Parser"}}
	}
	if n := h.fields(parser.Type()); n > maxFields {
		return []Finding{{p.Path, fmt.Sprintf("Parser has %d fields", n)}}
	}
	return nil
}

// fields counts the fields of a struct of the module, those of structs that it holds
// by value included. A type of another module is one field.
func (h *House) fields(t types.Type) (n int) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return 1
	}
	if named, ok := types.Unalias(t).(*types.Named); ok && slices.Contains(apart, named.Obj().Name()) {
		return 0
	}
	for field := range s.Fields() {
		n += h.fields(field.Type())
	}
	return max(n, 1)
}
