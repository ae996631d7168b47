package main

import (
	"encoding/json"
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
// too, both as they are once they have started (tools/snapshot), and the sources of the
// package.
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
	over, err := overlay(tmp)
	if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	for _, of := range [][2]string{{"parse.wasm", ""}, {"full.wasm", "render"}} {
		cold, err := filepath.Abs(filepath.Join(tmp, of[0]))
		if err != nil {
			return err
		}
		build := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-tags", of[1], "-modfile", mod, "-overlay", over, "-o", cold, "./cmd/bx/wasm")
		build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
		start := exec.Command("go", "-C", "tools", "run", "./snapshot", cold, filepath.Join(dir, of[0]), "ready")
		for _, c := range []*exec.Cmd{build, start} {
			c.Stderr = w
			if err := c.Run(); err != nil {
				return fmt.Errorf("wasm: %s: %w", strings.Join(c.Args[:4], " "), err)
			}
		}
	}
	sources, err := filepath.Glob("typescript/src/*")
	if err != nil {
		return err
	}
	for _, from := range sources {
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
// once take a quarter of the start); a tool's plain schema it compiles without them; and
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
	compiler := filepath.Join(to, "compiler.go")
	source, err = os.ReadFile(compiler)
	if err != nil {
		return "", err
	}
	quick, err := quickCompiler(string(source))
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
		os.Remove(compiler), os.WriteFile(compiler, []byte(quick), 0o600), os.WriteFile(filepath.Join(to, "plain.go"), []byte(plainGo), 0o600),
		os.MkdirAll(filepath.Join(words, "language"), 0o755), os.MkdirAll(filepath.Join(words, "message"), 0o755),
		os.WriteFile(filepath.Join(words, "go.mod"), []byte("module "+languages+"\n\ngo 1.21\n"), 0o600),
		os.WriteFile(filepath.Join(words, "language", "language.go"), []byte(languageGo), 0o600),
		os.WriteFile(filepath.Join(words, "message", "message.go"), []byte(messageGo), 0o600),
		os.WriteFile(file, fmt.Appendf(mod, "\nreplace (\n\t%s => ./%s\n\t%s => ./%s\n)\n", validator, to, languages, words), 0o600),
		os.WriteFile(filepath.Join(tmp, "go.sum"), sum, 0o600))
}

// overlay writes the file of a build whose runtime can draw its random numbers anew: all
// programs go on from one start. The secret of its hashes stays as it was then, so no
// text may be made to meet it: the byte 0xff is in none.
func overlay(tmp string) (file string, err error) {
	root, err := goOutput("env", "GOROOT")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, change := range map[string]func(string) (string, error){"rand.go": reseeded, "alg.go": keyed} {
		from := filepath.Join(root, "src", "runtime", name)
		source, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		changed, err := change(string(source))
		if err != nil {
			return "", err
		}
		if replace[from], err = filepath.Abs(filepath.Join(tmp, name)); err != nil {
			return "", err
		}
		if err := os.WriteFile(replace[from], []byte(changed), 0o600); err != nil {
			return "", err
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(tmp, "overlay.json")
	return file, os.WriteFile(file, b, 0o600)
}

func reseeded(source string) (string, error) {
	for _, need := range []string{"\nfunc randinit() {\n", "\nfunc mrandinit(mp *m) {\n", "\tinit  bool\n"} {
		if strings.Count(source, need) != 1 {
			return "", errors.New("wasm: rand.go of the runtime is not what it was: look at reseeded")
		}
	}
	return source + `
//go:linkname reseed main.reseed
func reseed() {
	globalRand.init = false
	randinit()
	mrandinit(getg().m)
}
`, nil
}

func keyed(source string) (string, error) {
	const at = "\t\thashkey[i] = uintptr(bootstrapRand())\n"
	if strings.Count(source, at) != 1 {
		return "", errors.New("wasm: alg.go of the runtime is not what it was: look at keyed")
	}
	return strings.Replace(source, at, "\t\thashkey[i] = uintptr(bootstrapRand() | 0xff)\n", 1), nil
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

// quickCompiler is compiler.go that makes a plain schema of itself, without addresses,
// drafts and the schema of schemas.
func quickCompiler(source string) (string, error) {
	for _, at := range [][2]string{
		{"type Compiler struct {\n", "\tplain map[string]any\n"},
		{"func (c *Compiler) AddResource(url string, doc any) error {\n", "\tif plain(doc) {\n\t\tc.plain = map[string]any{url: doc}\n\t\treturn nil\n\t}\n"},
		{"func (c *Compiler) Compile(loc string) (*Schema, error) {\n", "\tif doc, ok := c.plain[loc]; ok {\n\t\treturn made(doc, loc+\"#\"), nil\n\t}\n"},
	} {
		if strings.Count(source, at[0]) != 1 {
			return "", errors.New("wasm: compiler.go of jsonschema is not what it was: look at quickCompiler")
		}
		source = strings.Replace(source, at[0], at[0]+at[1], 1)
	}
	return source, nil
}

// plainGo knows the schemas that tools have as a rule: they are right by every draft, and
// made is what the compiler makes of them.
const plainGo = `package jsonschema

import "strconv"

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

func made(v any, at string) *Schema {
	s := &Schema{DraftVersion: 2020, Location: at}
	s.resource = s
	if b, ok := v.(bool); ok {
		s.Bool = &b
		return s
	}
	for k, v := range v.(map[string]any) {
		v := v
		switch k {
		case "title":
			s.Title = v.(string)
		case "description":
			s.Description = v.(string)
		case "default":
			s.Default = &v
		case "const":
			s.Const = &v
		case "type":
			s.Types = newTypes(v)
		case "properties":
			s.Properties = map[string]*Schema{}
			for name, sub := range v.(map[string]any) {
				s.Properties[name] = made(sub, at+"/properties/"+name)
			}
		case "items":
			s.Items2020, s.allItemsEvaluated = made(v, at+"/items"), true
		case "additionalProperties":
			s.AdditionalProperties, s.allPropsEvaluated = v, true
			if _, ok := v.(bool); !ok {
				s.AdditionalProperties = made(v, at+"/additionalProperties")
			}
		case "anyOf":
			for i, sub := range v.([]any) {
				s.AnyOf = append(s.AnyOf, made(sub, at+"/anyOf/"+strconv.Itoa(i)))
			}
		case "required":
			s.Required = toStrings(v.([]any))
		case "enum":
			s.Enum = newEnum(v.([]any))
		}
	}
	return s
}
`
