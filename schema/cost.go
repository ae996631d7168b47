package schema

// The validator tries every alternative of anyOf and oneOf on every value. In
// a schema that leads to itself its work can double with every level of the
// value, or of the references, so the work is counted before it is done.

// maxCost bounds the work of one validation: schemas applied to values.
const maxCost = 100_000

// cost counts how often the validator applies a schema in validating n by s.
// Without references that is no more than the schema's size, and the value's.
func (sh *shape) cost(s *js, n *node) int {
	if !sh.refs {
		return n.size * sh.spread
	}
	return int(min(counter{}.cost(s, n), 1e9))
}

// bearable reports whether validating the arguments ends soon.
func (sh *shape) bearable(args *node) bool {
	return !sh.refs || sh.cost(sh.root, args) <= maxCost
}

// pair is a schema applied to a value.
type pair struct {
	s *js
	n *node
}

// counter remembers what it counted: counting itself never doubles.
type counter map[pair]float64

// cost counts how often the validator applies a schema below and at this place.
func (c counter) cost(s *js, n *node) float64 {
	if s == nil {
		return 0
	}
	p := pair{s, n}
	if total, ok := c[p]; ok {
		return total
	}
	c[p] = 0 // a cycle ends the validation
	total := 1.0
	if s.Types == nil || ownTypes(s)&typeOf(n.val) != 0 {
		for _, sub := range applied(s) {
			total += c.cost(sub, n)
		}
		total += c.members(s, n) + c.elements(s, n)
	}
	c[p] = total
	return total
}

// applied lists the schemas that s applies to the value that it is applied to.
func applied(s *js) []*js {
	out := []*js{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}
	if s.DynamicRef != nil {
		out = append(out, s.DynamicRef.Ref)
	}
	for _, list := range [][]*js{s.AllOf, s.AnyOf, s.OneOf} {
		out = append(out, list...)
	}
	for _, sub := range s.DependentSchemas {
		out = append(out, sub)
	}
	for _, sub := range s.Dependencies {
		if sub, ok := sub.(*js); ok {
			out = append(out, sub)
		}
	}
	return out
}

func (c counter) members(s *js, n *node) (total float64) {
	if n.kind != '{' {
		return 0
	}
	for i := range n.kids {
		for _, sub := range append(member([]*js{s}, n.keys[i].name), s.UnevaluatedProperties) {
			total += c.cost(sub, &n.kids[i])
		}
	}
	return total
}

func (c counter) elements(s *js, n *node) (total float64) {
	if n.kind != '[' {
		return 0
	}
	for i := range n.kids {
		for _, sub := range []*js{ownElement(s, i), s.Contains, s.UnevaluatedItems} {
			total += c.cost(sub, &n.kids[i])
		}
	}
	return total
}
