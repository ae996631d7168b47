// Package schema knows what the tools that were offered to a model take. It
// finds the tool and the argument that a model meant, turns values into the
// types that the tool's JSON Schema asks for, validates the arguments, and
// words what is wrong so that a model can correct itself.
//
// It guesses only where one answer is possible: a name or a value that already
// fits is left as it is, every change is a utp.Fix, and what stays unclear is
// an Issue. It works on the text of the JSON, so the order of keys, number
// literals and integers of any size survive; when nothing changes, the same
// bytes come back.
//
// A *Set is immutable and safe for concurrent use. A nil *Set is an empty one.
package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
)

// Options are choices of the user. The zero value has none.
type Options struct {
	Aliases           []Alias
	DropEmptyOptional bool // drop optional arguments whose value is ""
	// Compiled gives the schema of a tool, compiled by Read now or before, for tools
	// that come anew with every request. It is called by several goroutines. nil: Read.
	Compiled func(json.RawMessage) Compiled
}

// Compiled is a compiled schema. It is immutable.
type Compiled struct{ *shape }

// Read compiles a tool's schema. It never fails: a broken one validates nothing.
func Read(schema json.RawMessage) Compiled { return Compiled{compile(schema)} }

// Set is a list of tools with their schemas. A schema is compiled when it is
// first needed.
type Set struct {
	opts    Options
	tools   map[string]*utp.Tool
	shapes  func() map[string]func() *shape
	names   []string            // in the order given
	spelled func() spellings    // for names that none of them has
	aliases map[string][]*Alias // by fold of From
	broken  []Issue             // of the list itself
}

// spellings are the tools' names by their lower-case form and by fold, and how they
// and the aliases end.
type spellings struct {
	lower, folded map[string][]string
	ends          ends
}

// Compile makes a Set of tools. It never fails: what is wrong with a tool is
// listed by Broken, and a tool whose schema is broken validates nothing.
func Compile(tools []utp.Tool) *Set { return CompileWith(tools, Options{}) }

// CompileWith is Compile with the user's options.
func CompileWith(tools []utp.Tool, o Options) *Set {
	o.Aliases = slices.Clone(o.Aliases)
	s := &Set{opts: o, tools: make(map[string]*utp.Tool, len(tools)), names: make([]string, 0, len(tools))}
	s.spelled = sync.OnceValue(s.spellings)
	s.shapes = sync.OnceValue(s.compiled)
	list := slices.Clone(tools)
	for i := range list {
		s.add(i, &list[i])
	}
	s.addAliases()
	return s
}

// compiled are the schemas, each compiled when it is asked for.
func (s *Set) compiled() map[string]func() *shape {
	read := s.opts.Compiled
	if read == nil {
		read = Read
	}
	all := make(map[string]func() *shape, len(s.tools))
	for name, t := range s.tools {
		all[name] = sync.OnceValue(func() *shape { return read(t.Schema).shape })
	}
	return all
}

func (s *Set) add(i int, t *utp.Tool) {
	if t.Name == "" {
		s.broken = append(s.broken, Issue{fmt.Sprintf("tools[%d]", i), "the tool has no name; it is left out"})
		return
	}
	if s.tools[t.Name] != nil {
		s.broken = append(s.broken, Issue{t.Name, "there are two tools of this name; the first one counts"})
		return
	}
	s.tools[t.Name] = t
	s.names = append(s.names, t.Name)
}

func (s *Set) spellings() spellings {
	by := spellings{make(map[string][]string, len(s.names)), make(map[string][]string, len(s.names)), ends{}}
	for _, name := range s.names {
		l, f := lower(name), fold(name)
		by.lower[l] = append(by.lower[l], name)
		by.folded[f] = append(by.folded[f], name)
		by.ends.add(f)
	}
	for f := range s.aliases {
		by.ends.add(f)
	}
	return by
}

// Names lists the tools in the order given. The caller must not change it.
func (s *Set) Names() []string {
	if s == nil {
		return nil
	}
	return s.names
}

// Len counts the tools.
func (s *Set) Len() int { return len(s.Names()) }

// Has reports whether a tool has exactly this name.
func (s *Set) Has(name string) bool {
	return s != nil && s.tools[name] != nil
}

// Tool gives the tool of exactly this name.
func (s *Set) Tool(name string) (utp.Tool, bool) {
	if !s.Has(name) {
		return utp.Tool{}, false
	}
	return *s.tools[name], true
}

// Broken compiles every schema and lists what is wrong with the tools; Path is
// the tool's name.
func (s *Set) Broken() []Issue {
	if s == nil {
		return nil
	}
	out := append([]Issue(nil), s.broken...)
	for _, name := range s.names {
		if err := s.shapes()[name]().broken; err != nil {
			out = append(out, Issue{name, "its schema cannot be used, so its arguments are not checked: " + err.Error()})
		}
	}
	return out
}

// Order lists a tool's arguments in the order of its schema: positional
// arguments are meant in this order. The caller must not change it.
func (s *Set) Order(tool string) []string {
	if sh := s.shape(tool); sh != nil {
		return sh.order
	}
	return nil
}

// Sole gives the argument that a lone value is meant for: the only required
// one, or, if none is required, the only one.
func (s *Set) Sole(tool string) (key string, ok bool) {
	sh := s.shape(tool)
	switch {
	case sh == nil:
		return "", false
	case len(sh.required) == 1:
		return sh.required[0], true
	case len(sh.required) == 0 && len(sh.order) == 1:
		return sh.order[0], true
	}
	return "", false
}

// shape gives the schema of the tool that a name means, or nil.
func (s *Set) shape(name string) *shape {
	if s == nil {
		return nil
	}
	if s.tools[name] != nil {
		return s.shapes()[name]()
	}
	if own, _, ok := s.Resolve(name); ok {
		return s.shapes()[own]()
	}
	return nil
}

// Issue is something wrong with arguments, worded for the model that wrote
// them. It is an error.
type Issue struct {
	Path    string `json:"path"` // JSON pointer into the arguments; "" is all of them
	Message string `json:"message"`
}

// Error is the path and the message.
func (i Issue) Error() string {
	if i.Path == "" {
		return i.Message
	}
	return i.Path + ": " + i.Message
}

// empty is the arguments object without arguments.
var empty = json.RawMessage("{}")
