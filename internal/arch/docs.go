package arch

import (
	"go/ast"
	"go/doc"
	"slices"
	"strings"
)

func packageDoc(h *House) (out []Finding) {
	for _, p := range h.Packages {
		if len(p.Files) > 0 && !slices.ContainsFunc(p.Files, func(f *File) bool { return strings.TrimSpace(f.Syntax.Doc.Text()) != "" }) {
			out = append(out, Finding{p.Path, "has no package comment"})
		}
	}
	return out
}

func example(h *House) (out []Finding) {
	for _, p := range h.Packages {
		if p.Name == "main" || len(p.Files) == 0 {
			continue
		}
		var tests []*ast.File
		for _, f := range p.Tests {
			tests = append(tests, f.Syntax)
		}
		if !slices.ContainsFunc(doc.Examples(tests...), func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput }) {
			out = append(out, Finding{p.Path, "has no runnable Example"})
		}
	}
	return out
}

// readers cannot import what is internal: an example of the library shows none of it.
func exampleForReaders(h *House) (out []Finding) {
	for _, p := range h.Packages {
		if within(p.Path, "cmd") || strings.Contains(p.Path+"/", "internal/") {
			continue
		}
		for _, f := range p.Tests {
			if !strings.HasSuffix(f.Name, "example_test.go") {
				continue
			}
			for _, i := range f.Syntax.Imports {
				if strings.Contains(i.Path.Value, "/internal/") {
					out = append(out, Finding{f.Name, "imports " + strings.Trim(i.Path.Value, `"`)})
				}
			}
		}
	}
	return out
}

func onMap(h *House) (out []Finding) {
	page, ok := h.Texts["ARCHITECTURE.md"]
	if !ok {
		return []Finding{{"ARCHITECTURE.md", "is missing"}}
	}
	for _, p := range h.Packages {
		name := p.Path
		if name == "." {
			name = p.Name
		}
		if !strings.Contains(page, "`"+name+"`") {
			out = append(out, Finding{"ARCHITECTURE.md", "does not name `" + name + "`"})
		}
	}
	return out
}
