package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// House is a module's source.
type House struct {
	Module   string
	Packages []*Package        // by path
	Texts    map[string]string // documents by name
	Golden   int               // lines of the files in testdata

	fset *token.FileSet
}

// Package is one package of the module.
type Package struct {
	Path  string // below the module; "." is its root
	Name  string
	Files []*File // without tests
	Tests []*File // of the package and beside it (package x_test)

	types *types.Package
	info  *types.Info
}

// File is one Go file.
type File struct {
	Name   string // below the module's root
	Lines  int
	Syntax *ast.File
}

// Parse builds a House of sources by their names below the module's root.
// Names that do not end in ".go" are kept as Texts.
func Parse(module string, sources map[string]string) (*House, error) {
	h := &House{Module: module, Texts: map[string]string{}, fset: token.NewFileSet()}
	byPath := map[string]*Package{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if path.Ext(name) != ".go" {
			h.Texts[name] = sources[name]
			continue
		}
		syntax, err := parser.ParseFile(h.fset, name, sources[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		p := byPath[path.Dir(name)]
		if p == nil {
			p = &Package{Path: path.Dir(name)}
			byPath[p.Path] = p
		}
		p.add(&File{Name: name, Lines: strings.Count(sources[name], "\n"), Syntax: syntax})
	}
	for _, dir := range slices.Sorted(maps.Keys(byPath)) {
		h.Packages = append(h.Packages, byPath[dir])
	}
	for _, p := range h.Packages {
		h.check(p)
	}
	return h, nil
}

func (p *Package) add(f *File) {
	if strings.HasSuffix(f.Name, "_test.go") {
		p.Tests = append(p.Tests, f)
		return
	}
	p.Name = f.Syntax.Name.Name
	p.Files = append(p.Files, f)
}

// Package finds a package by its path, or returns nil.
func (h *House) Package(path string) *Package {
	i := slices.IndexFunc(h.Packages, func(p *Package) bool { return p.Path == path })
	if i < 0 {
		return nil
	}
	return h.Packages[i]
}

// inside is the path below the module of an import path of this module.
func (h *House) inside(importPath string) (string, bool) {
	if importPath == h.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, h.Module+"/")
}

// Imports lists what the package's files import, tests aside, in order and
// each once.
func (p *Package) Imports() (out []string) {
	for _, f := range p.Files {
		for _, spec := range f.Syntax.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				out = append(out, path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// imports lists the packages of this module that p imports, by their paths below it.
func (h *House) imports(p *Package) (out []string) {
	for _, imp := range p.Imports() {
		if in, ok := h.inside(imp); ok {
			out = append(out, in)
		}
	}
	return out
}

// reach lists the packages of the module that p imports, itself or through others.
func (h *House) reach(p *Package) map[string]bool {
	seen := map[string]bool{}
	var walk func(*Package)
	walk = func(p *Package) {
		for _, in := range h.imports(p) {
			if next := h.Package(in); next != nil && !seen[in] {
				seen[in] = true
				walk(next)
			}
		}
	}
	walk(p)
	return seen
}

// check resolves the names of p. Only the module's own packages are known in
// full; of others the names of the packages are enough, so errors are expected.
func (h *House) check(p *Package) {
	if p.types != nil {
		return
	}
	p.types = types.NewPackage(p.Path, p.Name)
	p.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	conf := types.Config{Importer: importer{h}, Error: func(error) {}, FakeImportC: true}
	files := make([]*ast.File, len(p.Files))
	for i, f := range p.Files {
		files[i] = f.Syntax
	}
	_ = types.NewChecker(&conf, h.fset, p.types, p.info).Files(files)
}

type importer struct{ h *House }

// Import serves the module's packages from source and others as empty ones.
func (i importer) Import(path string) (*types.Package, error) {
	if in, ok := i.h.inside(path); ok {
		if p := i.h.Package(in); p != nil {
			i.h.check(p)
			return p.types, nil
		}
	}
	p := types.NewPackage(path, nameOf(path))
	p.MarkComplete()
	return p, nil
}

var major = regexp.MustCompile(`/v[0-9]+$`)

// nameOf guesses a package's name from its path.
func nameOf(importPath string) string {
	return strings.TrimPrefix(path.Base(major.ReplaceAllString(importPath, "")), "go-")
}

func (h *House) at(n ast.Node) string {
	pos := h.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", pos.Filename, pos.Line)
}
