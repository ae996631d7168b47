package search

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// goMarks are the top-level declarations of a Go file, nil if it does not
// parse. What stands between two declarations belongs to the second.
func goMarks(src []byte) []mark {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	// A //line directive must not move a chunk, hence PositionFor.
	line := func(p token.Pos) int { return fset.PositionFor(p, false).Line }
	head := mark{start: 1, line: line(f.Package)}
	if f.Doc != nil { // else it defines nothing: a package clause and imports
		head.symbols = []string{f.Name.Name}
	}
	marks := []mark{head}
	next := line(f.Name.End()) + 1
	for _, d := range f.Decls {
		if symbols := goSymbols(d); symbols != nil {
			at := line(d.Pos())
			marks = append(marks, mark{min(next, at), at, symbols})
		}
		next = line(d.End()) + 1
	}
	return marks
}

// goSymbols are the names that a declaration defines, nil for an import.
func goSymbols(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{receiver(d) + d.Name.Name}
	case *ast.GenDecl:
		return names(d.Specs)
	}
	return nil
}

// receiver is "Type." for a method.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return ""
		}
	}
}

func names(specs []ast.Spec) (out []string) {
	for _, s := range specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			out = append(out, s.Name.Name)
		case *ast.ValueSpec:
			for _, n := range s.Names {
				out = append(out, n.Name)
			}
		}
	}
	return out
}
