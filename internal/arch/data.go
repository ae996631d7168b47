package arch

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
)

var grammarCode = []string{"grammar.go", "check.go", "load.go", "all.go"}

func grammarData(h *House) (out []Finding) {
	p := h.Package("grammar")
	if p == nil {
		return nil
	}
	for _, f := range p.Files {
		if !slices.Contains(grammarCode, path.Base(f.Name)) && !isOneLiteral(f.Syntax) {
			out = append(out, Finding{f.Name, "is not one composite literal"})
		}
	}
	p.inspect(func(n ast.Node) {
		s, ok := n.(*ast.StructType)
		if !ok {
			return
		}
		for _, field := range s.Fields.List {
			if t := p.info.Types[field.Type].Type; t != nil && holdsFunc(t) {
				out = append(out, Finding{h.at(field), "is a func field"})
			}
		}
	})
	return out
}

func isOneLiteral(f *ast.File) bool {
	if len(f.Decls) != 1 {
		return false
	}
	d, ok := f.Decls[0].(*ast.GenDecl)
	if !ok || d.Tok != token.VAR || len(d.Specs) != 1 {
		return false
	}
	v := d.Specs[0].(*ast.ValueSpec)
	if len(v.Names) != 1 || len(v.Values) != 1 {
		return false
	}
	if _, ok := v.Values[0].(*ast.CompositeLit); !ok {
		return false
	}
	one := true
	ast.Inspect(v, func(n ast.Node) bool {
		_, code := n.(*ast.FuncLit)
		one = one && !code
		return one
	})
	return one
}

// holdsFunc reports whether t is a func, or a slice, map or pointer to one.
func holdsFunc(t types.Type) bool {
	for range 4 {
		switch u := t.Underlying().(type) {
		case *types.Signature:
			return true
		case *types.Slice:
			t = u.Elem()
		case *types.Map:
			t = u.Elem()
		case *types.Pointer:
			t = u.Elem()
		default:
			return false
		}
	}
	return false
}
