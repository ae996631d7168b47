package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Budget is one line of the size table.
type Budget struct {
	Name string
	Want string
	Got  string
	OK   bool
	Hard bool // a law as well: exceeding it fails
}

// Budgets measures the house, tests aside. Functions are counted with their
// first and last line.
func (h *House) Budgets() []Budget {
	var functions, files []int
	product, tests := 0, 0
	var longest File
	for _, p := range h.Packages {
		for _, f := range p.Files {
			functions = append(functions, h.functions(f)...)
			files = append(files, f.Lines)
			product += f.Lines
			if f.Lines > longest.Lines && !isTable(f.Syntax) {
				longest = *f
			}
		}
		for _, f := range p.Tests {
			tests += f.Lines
		}
	}
	ratio := float64(tests+h.Golden) / float64(max(product, 1))
	out := []Budget{
		atMost("lines of a function, median", 10, at(functions, 50)),
		atMost("lines of a function, 90 %", 40, at(functions, 90)),
		atMost("lines of a file, median", 150, at(files, 50)),
		hard(atMost("lines of a file, longest (tables aside)", maxLines, longest.Lines).of(longest.Name)),
		{Name: "test lines per product line, goldens counted", Want: "≥ 1", Got: fmt.Sprintf("%.2f", ratio), OK: ratio >= 1},
	}
	out = append(out, h.widest(), hard(h.deepest()))
	out = append(out, h.codecs()...)
	bare := len(packageDoc(h)) + len(example(h))
	return append(out, atMost("packages without a comment or a runnable Example", 0, bare))
}

func atMost(name string, want, got int) Budget {
	return Budget{Name: name, Want: fmt.Sprintf("≤ %d", want), Got: fmt.Sprint(got), OK: got <= want}
}

// of says what was measured.
func (b Budget) of(what string) Budget {
	b.Got += " (" + what + ")"
	return b
}

func hard(b Budget) Budget {
	b.Hard = true
	return b
}

// at is the value below which the given percentage of the values lies.
func at(values []int, percent int) int {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	return values[(len(values)-1)*percent/100]
}

func (h *House) lines(n ast.Node) int {
	return h.fset.Position(n.End()).Line - h.fset.Position(n.Pos()).Line + 1
}

func (h *House) functions(f *File) (lines []int) {
	for _, d := range f.Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			lines = append(lines, h.fset.Position(fn.End()).Line-h.fset.Position(fn.Type.Func).Line+1)
		}
	}
	return lines
}

// widest finds the package with the most exported names, methods and fields aside.
func (h *House) widest() Budget {
	most, where := 0, ""
	for _, p := range h.Packages {
		n := 0
		for _, name := range p.types.Scope().Names() {
			if token.IsExported(name) && p.Name != "main" {
				n++
			}
		}
		if n > most {
			most, where = n, p.Path
		}
	}
	return atMost("exported names of a package, most", 60, most).of(where)
}

func (h *House) deepest() Budget {
	var longest []string
	for _, p := range h.Packages {
		if c := h.chain(p); len(c) > len(longest) {
			longest = c
		}
	}
	return atMost("imports in a chain, longest", maxDepth, max(len(longest)-1, 0)).of(strings.Join(longest, " → "))
}

// Target is a fuzz target.
type Target struct{ Package, Func string }

// FuzzTargets lists the module's fuzz targets, by package.
func (h *House) FuzzTargets() (out []Target) {
	for _, p := range h.Packages {
		for _, f := range p.Tests {
			for _, d := range f.Syntax.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Fuzz") {
					out = append(out, Target{p.Path, fn.Name.Name})
				}
			}
		}
	}
	return out
}
