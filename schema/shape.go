package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// js is a compiled schema or a part of one.
type js = jsonschema.Schema

// shape is what is known of a tool's arguments.
type shape struct {
	root     *js
	atoms    []*js               // what root consists of
	names    map[string]bool     // of its arguments
	refs     bool                // it may hold references
	spread   int                 // grows with its size
	broken   error               // why root does not validate; it still tells the types, as far as they can be read
	order    []string            // argument names in the order of the schema
	required []string            // names that must be there, in that order
	folded   map[string][]string // argument names by fold
	kinds    map[string]Kind     // of the arguments
	free     map[string]mask     // of those that only a type limits: of scalars of it no validation is needed
}

// compile never fails: broken tells what could not be used.
func compile(schema json.RawMessage) *shape {
	if len(schema) == 0 || string(schema) == "null" {
		schema = empty
	}
	sh := &shape{folded: map[string][]string{}, kinds: map[string]Kind{}, free: map[string]mask{}, spread: 1 + len(schema)/4000}
	if sh.broken = (Limits{}).Check(schema); sh.broken != nil {
		sh.root, _ = load(map[string]any{"type": "object"})
		return sh
	}
	sh.refs = bytes.Contains(schema, []byte(`ef"`)) || bytes.Contains(schema, []byte(`\u00`)) // $ref and its kin, or an escape that may be one
	sh.root, sh.broken = build(schema)
	if sh.broken != nil {
		sh.root = mend(schema)
	}
	sh.atoms = flatten([]*js{sh.root}, nil)
	sh.names = properties(sh.atoms)
	sh.order = order(schema, sh.names)
	for _, name := range sh.order {
		if needs(sh.atoms, name) {
			sh.required = append(sh.required, name)
		}
		f := fold(name)
		sh.folded[f] = append(sh.folded[f], name)
		sh.free[name] = scalars(sh.argument(name))
		sh.kinds[name] = kindOf(sh.argument(name))
	}
	return sh
}

// build tries the schema as it is meant, then without its ids.
func build(schema json.RawMessage) (*js, error) {
	var first error
	for _, bare := range []bool{false, true} {
		n, err := parse(schema)
		if err != nil {
			return nil, fmt.Errorf("it is not JSON: %w", err)
		}
		if n.kind != '{' && n.kind != 't' {
			return nil, errors.New("it is not a JSON object")
		}
		root, err := load(normalise(n.val, bare))
		if err == nil {
			return root, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// mend makes what can be made of a broken schema.
func mend(schema json.RawMessage) *js {
	var root any = map[string]any{"type": "object"}
	if n, err := parse(schema); err == nil && n.kind == '{' {
		root = skeleton(normalise(n.val, true))
	}
	sch, err := load(root)
	if err != nil {
		sch, _ = load(true)
	}
	return sch
}

// location names the schema. It is no file, and nothing is ever loaded from it.
const (
	nowhere  = "utp:///"
	location = nowhere + "tool"
)

// load compiles a normalised schema. The library is foreign code given foreign
// data: should it panic, the schema is broken.
func load(doc any) (sch *js, err error) {
	defer func() {
		if p := recover(); p != nil {
			sch, err = nil, fmt.Errorf("%v", p)
		}
	}()
	c := jsonschema.NewCompiler()
	c.UseLoader(closed{})
	c.UseRegexpEngine(pattern)
	if err := c.AddResource(location, doc); err != nil {
		return nil, plain(err)
	}
	sch, err = c.Compile(location)
	return sch, plain(err)
}

// plain takes the made-up location out of an error and keeps it to one line.
func plain(err error) error {
	if err == nil {
		return nil
	}
	text := strings.NewReplacer(location, "", nowhere, "", "\n", " ").Replace(err.Error())
	return fmt.Errorf("%s", shorten(text, 300))
}

// closed loads nothing: a $ref leads nowhere but into its own schema.
type closed struct{}

// Load refuses.
func (closed) Load(url string) (any, error) {
	return nil, fmt.Errorf("references to other documents are not followed: %s", url)
}

// pattern compiles a regular expression. One that Go cannot read, such as one
// that looks after, matches everything.
func pattern(expr string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return anything(expr), nil
	}
	return re, nil
}

type anything string

// MatchString accepts.
func (anything) MatchString(string) bool { return true }

// String gives the expression.
func (a anything) String() string { return string(a) }

// order lists the names in the order in which the schema's text declares them.
func order(schema json.RawMessage, names map[string]bool) []string {
	var out []string
	if n, err := parse(schema); err == nil {
		o := orderer{root: n, names: names, seen: map[string]bool{}, refs: map[string]bool{}}
		o.walk(n)
		out = o.out
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// orderer walks the text of a schema in the order of its keys.
type orderer struct {
	root  node
	names map[string]bool // that exist
	seen  map[string]bool // names
	refs  map[string]bool // references
	out   []string
}

func (o *orderer) walk(n node) {
	for i, k := range n.keys {
		sub := n.kids[i]
		switch k.name {
		case "properties":
			o.add(sub)
		case "$ref":
			if target, ok := o.point(sub.text()); ok && !o.refs[sub.text()] {
				o.refs[sub.text()] = true
				o.walk(target)
			}
		case "allOf", "anyOf", "oneOf":
			for _, branch := range sub.kids {
				o.walk(branch)
			}
		}
	}
}

func (o *orderer) add(props node) {
	for _, k := range props.keys {
		if o.names[k.name] && !o.seen[k.name] {
			o.seen[k.name] = true
			o.out = append(o.out, k.name)
		}
	}
}

// point follows a reference within the document.
func (o *orderer) point(ref string) (node, bool) {
	n := o.root
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return n, false
	}
	for step := range strings.SplitSeq(path, "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if n, ok = n.find(step); !ok {
			return n, false
		}
	}
	return n, true
}
