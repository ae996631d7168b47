package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

const maxLines = 600

// maxParse is the same in parse, whose files one reads side by side.
const maxParse = 400

func fileLength(h *House) (out []Finding) {
	for _, p := range h.Packages {
		for _, f := range p.Files {
			switch {
			case !isTable(f.Syntax):
				if most := longest(p.Path); f.Lines > most {
					out = append(out, Finding{f.Name, fmt.Sprintf("has %d lines", f.Lines)})
				}
			case slices.ContainsFunc(f.Syntax.Decls, func(d ast.Decl) bool { _, ok := d.(*ast.FuncDecl); return ok }):
				out = append(out, Finding{f.Name, "is marked //arch:table and declares a function"})
			}
		}
	}
	return out
}

// longest is how many lines a file of a package may have.
func longest(path string) int {
	if within(path, "parse") {
		return maxParse
	}
	return maxLines
}

// isTable reports whether a comment line of the file is "//arch:table".
func isTable(f *ast.File) bool {
	for _, g := range f.Comments {
		for _, c := range g.List {
			if c.Text == "//arch:table" || strings.HasPrefix(c.Text, "//arch:table ") {
				return true
			}
		}
	}
	return false
}
