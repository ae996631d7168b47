package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// spot is a place in a source file and what stands there in the package that
// has mutants: both forms, and the switch between them.
type spot struct {
	file     string
	from, to int // bytes
	line     int
	what     string
	write    func(source string, id int) string
}

// sources are the files of a package without its tests, by name, and the spots
// in their functions where it can be broken.
func sources(dir string) (pkg string, texts map[string]string, spots []spot, err error) {
	set := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", nil, nil, err
	}
	texts = map[string]string{}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return "", nil, nil, err
		}
		f, err := parser.ParseFile(set, name, b, parser.SkipObjectResolution)
		if err != nil {
			return "", nil, nil, err
		}
		texts[name], files = string(b), append(files, f)
	}
	if len(files) == 0 {
		return "", nil, nil, fmt.Errorf("%s has no Go files", dir)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	check := types.Config{Importer: importer.ForCompiler(set, "gc", exports(dir))}
	if _, err := check.Check(dir, set, files, info); err != nil {
		return "", nil, nil, err
	}
	for _, f := range files {
		m := mutator{set: set, info: info}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				ast.Inspect(fn.Body, m.visit)
			}
		}
		spots = append(spots, m.spots...)
	}
	return files[0].Name.Name, texts, spots, nil
}

// exports opens the export data of what the package imports.
func exports(dir string) func(path string) (io.ReadCloser, error) {
	files := map[string]string{}
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", ".")
	cmd.Dir = dir
	out, err := cmd.Output()
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) {
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		return os.Open(files[path])
	}
}

// mutator collects spots.
type mutator struct {
	set   *token.FileSet
	info  *types.Info
	spots []spot
}

func (m *mutator) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		m.negate(n.Cond)
	case *ast.ForStmt:
		m.negate(n.Cond)
	case *ast.BinaryExpr:
		m.operator(n)
	case *ast.BlockStmt:
		m.drop(n.List)
	case *ast.CaseClause:
		m.drop(n.Body)
	case *ast.BasicLit:
		m.number(n)
	case *ast.ArrayType, *ast.GenDecl: // lengths and constants have to stay constant
		return false
	}
	return true
}

func (m *mutator) add(n ast.Node, what string, write func(source string, id int) string) {
	from, to := m.set.Position(n.Pos()), m.set.Position(n.End())
	m.spots = append(m.spots, spot{from.Filename, from.Offset, to.Offset, from.Line, what, write})
}

func (m *mutator) is(e ast.Expr, kinds ...types.BasicKind) bool {
	t, ok := m.info.Types[e].Type.(*types.Basic)
	return ok && slices.Contains(kinds, t.Kind())
}

func (m *mutator) negate(cond ast.Expr) {
	if cond != nil && m.is(cond, types.Bool, types.UntypedBool) {
		m.add(cond, "the condition negated", func(s string, id int) string { return fmt.Sprintf("(mutant(%d) != (%s))", id, s) })
	}
}

// swaps has for each operator the one that takes its place.
var swaps = map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}

func (m *mutator) operator(n *ast.BinaryExpr) {
	other, ok := swaps[n.Op]
	if !ok || !m.is(n, types.Bool, types.UntypedBool) {
		return
	}
	at := m.set.Position(n.OpPos).Offset - m.set.Position(n.Pos()).Offset
	op := n.Op.String()
	m.add(n, op+" made "+other.String(), func(s string, id int) string {
		swapped := s[:at] + other.String() + s[at+len(op):]
		return fmt.Sprintf("(mutant(%d) && (%s) || !mutant(%d) && (%s))", id, swapped, id, s)
	})
}

func (m *mutator) drop(list []ast.Stmt) {
	for _, stmt := range list {
		switch s := stmt.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && fmt.Sprint(call.Fun) == "panic" {
				continue // what follows may lack a return
			}
		case *ast.IncDecStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		default:
			continue
		}
		m.add(stmt, "dropped", func(s string, id int) string { return fmt.Sprintf("if !mutant(%d) { %s }", id, s) })
	}
}

func (m *mutator) number(n *ast.BasicLit) {
	if n.Kind == token.INT && m.is(n, types.Int) {
		m.add(n, n.Value+" made one more", func(s string, id int) string { return fmt.Sprintf("(%s + mutantOne(%d))", s, id) })
	}
}

// switchboard is the file that a package with mutants has more.
const switchboard = `package %s

import "os"

var mutantOn = func() (id int) {
	for _, c := range os.Getenv("MUTANT") {
		id = 10*id + int(c-'0')
	}
	return id
}()

func mutant(id int) bool { return mutantOn == id }

func mutantOne(id int) int {
	if mutantOn == id {
		return 1
	}
	return 0
}
`

// mutated are the files with all mutants in them. Those chosen do not overlap.
func mutated(texts map[string]string, chosen []spot) map[string]string {
	out := map[string]string{}
	for name, text := range texts {
		out[name] = text
	}
	order := make([]int, len(chosen))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return chosen[b].from - chosen[a].from }) // from the end, so that offsets stay true
	for _, i := range order {
		s := chosen[i]
		text := out[s.file]
		out[s.file] = text[:s.from] + s.write(text[s.from:s.to], i+1) + text[s.to:]
	}
	return out
}
