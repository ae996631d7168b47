package arch

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
)

var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

var constantOnce = []string{"OnceValue", "OnceValues", "OnceFunc"}

func pureCalls(h *House) (out []Finding) {
	for _, p := range h.pure() {
		p.inspect(func(n ast.Node) {
			if what := p.impurity(n); what != "" {
				out = append(out, Finding{h.at(n), what})
			}
		})
	}
	return out
}

func (p *Package) impurity(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return p.changes(n.Lhs...)
		}
	case *ast.IncDecStmt:
		return p.changes(n.X)
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
			return p.changes(n.Args[0])
		}
	}
	pkg, name := p.selected(n)
	switch {
	case pkg == "time" && slices.Contains(clocks, name):
		return "reads the clock: time." + name
	case pkg == "sync" && !slices.Contains(constantOnce, name), pkg == "sync/atomic":
		return "keeps shared state: " + path.Base(pkg) + "." + name
	}
	return ""
}

// changes names the package's variable that an assignment to one of targets changes.
func (p *Package) changes(targets ...ast.Expr) string {
	for _, t := range targets {
		id := root(t)
		if id == nil {
			continue
		}
		if v, ok := p.info.Uses[id].(*types.Var); ok && v.Parent() == p.types.Scope() {
			return "changes the package's variable " + id.Name
		}
	}
	return ""
}

// root is the variable that holds what e denotes.
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return nil
}
