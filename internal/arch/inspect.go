package arch

import (
	"go/ast"
	"go/types"
)

// inspect shows every node of the package's files, tests aside.
func (p *Package) inspect(f func(ast.Node)) {
	for _, file := range p.Files {
		ast.Inspect(file.Syntax, func(n ast.Node) bool {
			if n != nil {
				f(n)
			}
			return true
		})
	}
}

// selected is the import path and the name of pkg.Name, or "".
func (p *Package) selected(n ast.Node) (pkg, name string) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	if imported, ok := p.info.Uses[id].(*types.PkgName); ok {
		return imported.Imported().Path(), sel.Sel.Name
	}
	return "", ""
}
