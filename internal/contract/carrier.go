package contract

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Carrier is a test that carries rows: a test func or a case in a file.
type Carrier struct {
	IDs  []string
	File string // below the root
	Line int
	Dir  string // of the package that the file belongs to, below the root
	Func string // TestX, or "" for a case or for a tag that stands at no test
	Case string // the file's path below testdata without its extension, or ""
}

// Name says which test it is: "parse TestText", "grammar hermes/simple".
func (c Carrier) Name() string {
	return strings.TrimSpace(c.Dir + " " + cmp.Or(c.Func, c.Case))
}

// imaginary are cases that speak of other cases: they test the tools of testing.
var imaginary = []string{"internal/arch/testdata", "internal/contract/testdata", "internal/golden/testdata", "internal/report/testdata"}

// Collect finds the carriers below the root of a module. Modules inside it and
// folders with a leading dot are left out.
func Collect(root fs.FS) (out []Carrier, err error) {
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(root, name)
		}
		var found []Carrier
		switch {
		case strings.HasSuffix(name, "_test.go"):
			found, err = ofTests(root, name)
		case path.Ext(name) == ".txtar" && strings.Contains("/"+name, "/testdata/"):
			found, err = ofCase(root, name)
		}
		out = append(out, found...)
		return err
	})
	return out, err
}

func enter(root fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	if err == nil || strings.HasPrefix(path.Base(dir), ".") || slices.Contains(imaginary, dir) {
		return fs.SkipDir
	}
	return nil
}

// ofTests reads the tags in a test file's comments: above a func or inside it.
func ofTests(root fs.FS, name string) (out []Carrier, err error) {
	source, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, comment := range file.Comments {
		var lines []string
		for _, c := range comment.List {
			lines = append(lines, c.Text)
		}
		if ids := Tags(strings.Join(lines, "\n")); ids != nil {
			out = append(out, Carrier{IDs: ids, File: name, Line: files.Position(comment.Pos()).Line, Dir: path.Dir(name), Func: testAt(file, comment)})
		}
	}
	return out, nil
}

var testFunc = regexp.MustCompile(`^(Test|Fuzz|Example|Benchmark)`)

func testAt(file *ast.File, comment *ast.CommentGroup) string {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if ok && testFunc.MatchString(f.Name.Name) && (f.Doc == comment || f.Pos() <= comment.Pos() && comment.End() <= f.End()) {
			return f.Name.Name
		}
	}
	return ""
}

func ofCase(root fs.FS, name string) ([]Carrier, error) {
	b, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	dir, below, _ := cutLast("/"+name, "/testdata/")
	c := Carrier{
		IDs:  once(append(byName(path.Base(name)), Tags(string(txtar.Parse(b).Comment))...)),
		File: name,
		Line: 1,
		Dir:  cmp.Or(strings.TrimPrefix(dir, "/"), "."),
		Case: strings.TrimSuffix(below, path.Ext(below)),
	}
	if c.IDs == nil {
		return nil, nil
	}
	return []Carrier{c}, nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

var scenario = regexp.MustCompile(`^uat_(?:([0-9]+)[._]([0-9]+)|known[-_](good|bad))`)

// byName is the acceptance id that a script has by its name.
func byName(base string) []string {
	m := scenario.FindStringSubmatch(base)
	switch {
	case m == nil:
		return nil
	case m[3] == "good":
		return []string{"UAT-5.1"}
	case m[3] == "bad":
		return []string{"UAT-5.2"}
	}
	return []string{"UAT-" + m[1] + "." + m[2]}
}
