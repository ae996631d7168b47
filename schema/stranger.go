package schema

import (
	"encoding/json"
	"strings"
)

// Unknown names the arguments that a tool's schema does not know, where it knows
// some and says nothing of others: by JSON Schema they are valid, and most likely
// a mistake. Arguments that the schema forbids are Issues of Check.
func (s *Set) Unknown(tool string, args json.RawMessage) []Issue {
	sh := s.shape(tool)
	if sh == nil {
		return nil
	}
	n, err := parse(args)
	if err != nil || n.kind != '{' {
		return nil
	}
	return sh.strangers(n)
}

func (sh *shape) strangers(args node) (out []Issue) {
	if len(sh.order) == 0 || sh.takesMore() {
		return nil
	}
	for _, k := range args.keys {
		if !sh.knows(k.name) && len(out) < maxIssues {
			out = append(out, Issue{pointer([]string{k.name}), noSuch("argument", k.name, sh.order)})
		}
	}
	return out
}

// takesMore reports whether the schema speaks of arguments that it does not name.
func (sh *shape) takesMore() bool {
	for _, a := range reach(sh.atoms) {
		if a.AdditionalProperties != nil || len(a.PatternProperties) > 0 || a.PropertyNames != nil || a.UnevaluatedProperties != nil {
			return true
		}
	}
	return false
}

// noSuch says that a member is not known, which one may be meant, and which
// there are.
func noSuch(what, name string, known []string) string {
	text := "there is no such " + what
	if len(known) == 0 {
		return text + "; none are allowed"
	}
	if near := Near(name, known); len(near) > 0 {
		text += " (did you mean " + near[0] + "?)"
	}
	return text + "; want " + shorten(strings.Join(known, ", "), 200)
}
