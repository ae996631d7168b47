package arch

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
)

var offices = []string{"util", "utils", "common", "helper", "helpers", "types", "core", "manager", "misc", "shared", "base", "lib"}

func names(h *House) (out []Finding) {
	for _, p := range h.Packages {
		if slices.Contains(offices, p.Name) || slices.Contains(offices, path.Base(p.Path)) {
			out = append(out, Finding{p.Path, "is named " + p.Name})
		}
	}
	return out
}

func noInit(h *House) (out []Finding) {
	for _, p := range h.Packages {
		if within(p.Path, "cmd") {
			continue
		}
		p.inspect(func(n ast.Node) {
			if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == "init" && f.Recv == nil {
				out = append(out, Finding{h.at(f), "declares init"})
			}
		})
	}
	return out
}

func noOptional(h *House) (out []Finding) {
	for _, p := range h.Packages {
		p.inspect(func(n ast.Node) {
			for _, t := range asserted(n) {
				if p.optional(t) {
					out = append(out, Finding{h.at(t), "asserts " + types.ExprString(t)})
				}
			}
		})
	}
	return out
}

// asserted lists the types that n asserts a value to be of.
func asserted(n ast.Node) (out []ast.Expr) {
	switch n := n.(type) {
	case *ast.TypeAssertExpr:
		if n.Type != nil {
			out = append(out, n.Type)
		}
	case *ast.TypeSwitchStmt:
		for _, s := range n.Body.List {
			out = append(out, s.(*ast.CaseClause).List...)
		}
	}
	return out
}

// optional reports whether t is an interface with methods that the module declares.
func (p *Package) optional(t ast.Expr) bool {
	typ := p.info.Types[t].Type
	if typ == nil {
		return false
	}
	if _, generic := types.Unalias(typ).(*types.TypeParam); generic {
		return false
	}
	i, ok := typ.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return false
	}
	named, ok := types.Unalias(typ).(*types.Named)
	return !ok || named.Obj().Pkg() != nil // only "error" belongs to no package
}
