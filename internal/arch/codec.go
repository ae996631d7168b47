package arch

import (
	"go/ast"
	"go/token"
	"go/types"
)

// codecs measures each Front and each Back below wire: the files that hold
// anything of what it needs, so that those which both need count for both.
func (h *House) codecs() (out []Budget) {
	for _, p := range h.Packages {
		if !within(p.Path, "wire") || p.Path == "wire" || within(p.Path, "wire/internal") {
			continue
		}
		for _, side := range []string{"Front", "Back"} {
			codec := p.types.Scope().Lookup(side)
			if codec == nil {
				continue
			}
			n := 0
			for f := range p.needs(codec) {
				n += f.Lines - h.structLines(f)
			}
			out = append(out, atMost("lines of "+p.Path+"."+side+" without its structs", 900, n))
		}
	}
	return out
}

// needs is the files of the package that hold the declaration of a type, of its
// methods, and of all that these use.
func (p *Package) needs(of types.Object) map[*File]bool {
	files, declared := map[*File]bool{}, p.declarations()
	seen := map[ast.Node]bool{}
	var visit func(o types.Object)
	visit = func(o types.Object) {
		for _, d := range declared[o] {
			if seen[d.node] {
				continue
			}
			seen[d.node], files[d.file] = true, true
			ast.Inspect(d.node, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && p.info.Uses[id] != nil {
					visit(p.info.Uses[id])
				}
				return true
			})
		}
	}
	visit(of)
	return files
}

type declaration struct {
	file *File
	node ast.Node
}

// declarations are those of the package's objects; those of a type are its own
// and its methods'.
func (p *Package) declarations() map[types.Object][]declaration {
	out := map[types.Object][]declaration{}
	add := func(f *File, id *ast.Ident, node ast.Node) {
		out[p.info.Defs[id]] = append(out[p.info.Defs[id]], declaration{f, node})
	}
	for _, f := range p.Files {
		for _, d := range f.Syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				add(f, d.Name, d)
				if r := p.receiver(d); r != nil {
					out[r] = append(out[r], declaration{f, d})
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add(f, s.Name, s)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							add(f, name, s)
						}
					}
				}
			}
		}
	}
	return out
}

// receiver is the type that a method belongs to, or nil.
func (p *Package) receiver(d *ast.FuncDecl) types.Object {
	if d.Recv == nil {
		return nil
	}
	t := p.info.TypeOf(d.Recv.List[0].Type)
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Origin().Obj()
	}
	return nil
}

// structLines counts the lines of the file's declarations of struct types.
func (h *House) structLines(f *File) (n int) {
	for _, d := range f.Syntax.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			if t := spec.(*ast.TypeSpec); isStruct(t) {
				n += h.lines(t)
			}
		}
	}
	return n
}

func isStruct(t *ast.TypeSpec) bool {
	_, ok := t.Type.(*ast.StructType)
	return ok
}
