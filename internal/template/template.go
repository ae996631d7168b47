// Package template runs the templates of text/template, without methods.
//
// text/template looks a method up by a name that only the template knows. The
// linker then keeps every exported method of every type of the program, a tenth
// of bx. Here a template reads fields of structs, and elements of slices, arrays
// and texts; text/template/parse reads the template itself. Maps, channels and
// functions are no data, and the function call is not known.
package template

import (
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"text/template/parse"
)

// Set is templates by name, which may use each other.
type Set map[string]*parse.Tree

// New is a set of one template and those that it defines.
func New(name, text string) (Set, error) {
	known := map[string]any{}
	for f := range functions {
		known[f] = f
	}
	return parse.Parse(name, text, "", "", known)
}

// Files is a set of the files of a directory, each under its name.
func Files(dir fs.FS) (Set, error) {
	all := Set{}
	files, err := fs.Glob(dir, "*")
	for _, name := range files {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		s, err := New(name, string(text))
		if err != nil {
			return nil, err
		}
		maps.Copy(all, s)
	}
	return all, err
}

// Must is a set that is part of the program.
func Must(s Set, err error) Set {
	if err != nil {
		panic(err)
	}
	return s
}

// Execute is the text that a template makes of data. An error tells the place in
// the template.
func (s Set) Execute(name string, data any) (string, error) {
	tree := s[name]
	if tree == nil {
		return "", fmt.Errorf("template: no template %q", name)
	}
	var out strings.Builder
	r := run{set: s, tree: tree, out: &out, variables: []variable{{"$", data}}}
	if err := r.walk(data, tree.Root); err != nil {
		return "", err
	}
	return out.String(), nil
}
