package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// wasm builds the engine for JavaScript into DIR: parse.wasm, full.wasm that renders
// too, what runs them, and the sources of the package.
func wasm(w io.Writer, args []string) error {
	if len(args) != 1 {
		return errors.New("wasm: want the directory to write to")
	}
	dir, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	tmp := "typescript/.build" // below the module, and always the same: the programs name it
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return fmt.Errorf("wasm: %w: another build goes on, or remove it", err)
	}
	defer os.RemoveAll(tmp)
	mod, err := lighter(tmp)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	for _, of := range [][2]string{{"parse.wasm", ""}, {"full.wasm", "render"}} {
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-tags", of[1], "-modfile", mod, "-o", filepath.Join(dir, of[0]), "./cmd/bx/wasm")
		build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		build.Stderr = w
		if err := build.Run(); err != nil {
			return fmt.Errorf("wasm: go build: %w", err)
		}
	}
	root, err := goOutput("env", "GOROOT")
	if err != nil {
		return err
	}
	sources, err := filepath.Glob("typescript/src/*")
	if err != nil {
		return err
	}
	for _, from := range append(sources, filepath.Join(root, "lib", "wasm", "wasm_exec.js")) {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(from)), b, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func goOutput(args ...string) (string, error) {
	b, err := exec.Command("go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("wasm: go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(b)), nil
}

const (
	validator = "github.com/santhosh-tekuri/jsonschema/v6"
	languages = "golang.org/x/text"
)

// lighter writes a go.mod for the build, by which the validator of JSON Schema is the
// same but for three things: it compiles its own schemas when they are needed (all at
// once take a quarter of the start), which is not for a tool whose schema is plain; and
// its own words for errors, which nobody reads, are in no other language than English
// (a tenth of the program).
func lighter(tmp string) (file string, err error) {
	from, err := goOutput("list", "-m", "-f", "{{.Dir}}", validator)
	if err != nil {
		return "", err
	}
	to := filepath.Join(tmp, "validator")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return "", err
	}
	drafts := filepath.Join(to, "draft.go")
	source, err := os.ReadFile(drafts)
	if err != nil {
		return "", err
	}
	lazy, err := lazyDrafts(string(source))
	if err != nil {
		return "", err
	}
	roots := filepath.Join(to, "roots.go")
	source, err = os.ReadFile(roots)
	if err != nil {
		return "", err
	}
	quick, err := quickRoots(string(source))
	if err != nil {
		return "", err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return "", err
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return "", err
	}
	words := filepath.Join(tmp, "words")
	file = filepath.Join(tmp, "go.mod")
	return file, errors.Join(
		os.Remove(drafts), os.WriteFile(drafts, []byte(lazy), 0o600),
		os.Remove(roots), os.WriteFile(roots, []byte(quick), 0o600), os.WriteFile(filepath.Join(to, "plain.go"), []byte(plainGo), 0o600),
		os.MkdirAll(filepath.Join(words, "language"), 0o755), os.MkdirAll(filepath.Join(words, "message"), 0o755),
		os.WriteFile(filepath.Join(words, "go.mod"), []byte("module "+languages+"\n\ngo 1.21\n"), 0o600),
		os.WriteFile(filepath.Join(words, "language", "language.go"), []byte(languageGo), 0o600),
		os.WriteFile(filepath.Join(words, "message", "message.go"), []byte(messageGo), 0o600),
		os.WriteFile(file, fmt.Appendf(mod, "\nreplace (\n\t%s => ./%s\n\t%s => ./%s\n)\n", validator, to, languages, words), 0o600),
		os.WriteFile(filepath.Join(tmp, "go.sum"), sum, 0o600))
}

const languageGo = `package language

type Tag struct{}

var English Tag
`

const messageGo = `package message

import (
	"fmt"

	"golang.org/x/text/language"
)

type (
	Printer   struct{}
	Reference = string
)

func NewPrinter(language.Tag) *Printer { return nil }

func (*Printer) Sprintf(key string, a ...any) string { return fmt.Sprintf(key, a...) }

func (*Printer) Sprint(a ...any) string { return fmt.Sprint(a...) }
`

var initDrafts = regexp.MustCompile(`(?s)\nfunc init\(\) \{.*?\n\}\n`)

// lazyDrafts is draft.go whose drafts are compiled one by one, when the first schema
// of each is.
func lazyDrafts(source string) (string, error) {
	const at = "\tvocabs := d.activeVocabs(assertVocabs, vocabularies)\n\tif vocabs == nil {"
	if !initDrafts.MatchString(source) || strings.Count(source, at) != 1 {
		return "", errors.New("wasm: draft.go of jsonschema is not what it was: look at what its init does, and at lazyDrafts")
	}
	source = initDrafts.ReplaceAllLiteralString(source, `
var compiled = map[*Draft]bool{}

func (d *Draft) compile() {
	if compiled[d] {
		return
	}
	compiled[d] = true
	c := NewCompiler()
	c.AssertFormat()
	sch := c.MustCompile(d.url)
	vocabs := map[string]*Schema{}
	for name := range d.allVocabs {
		vocabs[name] = c.MustCompile(strings.TrimSuffix(d.url, "schema") + "meta/" + name)
	}
	d.sch, d.allVocabs = sch, vocabs
}
`)
	return strings.Replace(source, at, "\td.draft.compile()\n"+at, 1), nil
}

// quickRoots is roots.go that holds no plain schema against the schema of schemas.
func quickRoots(source string) (string, error) {
	const at = "func (rr *roots) validate(r *root, v any, ptr jsonPointer) error {\n"
	if strings.Count(source, at) != 1 {
		return "", errors.New("wasm: roots.go of jsonschema is not what it was: look at quickRoots")
	}
	return strings.Replace(source, at, at+"\tif plain(v) {\n\t\treturn nil\n\t}\n", 1), nil
}

// plainGo knows the schemas that tools have as a rule: they are right by every draft.
const plainGo = `package jsonschema

func plain(v any) bool {
	if _, ok := v.(bool); ok {
		return true
	}
	m, ok := v.(map[string]any)
	for k, v := range m {
		switch k {
		case "default", "const":
		case "title", "description":
			_, ok = v.(string)
		case "type":
			switch v {
			case "object", "array", "string", "integer", "number", "boolean", "null":
			default:
				ok = false
			}
		case "properties":
			var all map[string]any
			all, ok = v.(map[string]any)
			for _, s := range all {
				ok = ok && plain(s)
			}
		case "items", "additionalProperties":
			ok = plain(v)
		case "anyOf":
			ok = some(v, plain)
		case "required", "enum":
			seen := map[any]bool{}
			ok = some(v, func(v any) bool {
				_, text := v.(string)
				text = text && !seen[v]
				seen[v] = true
				return text
			})
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	return ok
}

func some(v any, good func(any) bool) bool {
	list, _ := v.([]any)
	for _, v := range list {
		if !good(v) {
			return false
		}
	}
	return len(list) > 0
}
`
