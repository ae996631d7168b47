package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/te"
)

// What an envelope shows and what its breadcrumbs count is all that plain grep
// finds, whatever the budget; something is always shown, and the handle opens
// the rest.
//
// contract: TE-03 TE-08 TE-16
func TestEnvelopesOfGrepAddUp(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(dir)
	rapid.Check(t, func(t *rapid.T) {
		if err := errors.Join(os.RemoveAll("tree"), os.MkdirAll("tree/.git", 0o777), os.Chdir("tree")); err != nil {
			t.Fatalf("%v", err)
		}
		defer os.Chdir(dir)
		c := drawGrep(t)
		for name, text := range c.files { // so that some do not fit
			c.files[name] = strings.Repeat(text, rapid.IntRange(1, 40).Draw(t, "times"))
		}
		c.write(t, ".")
		counts := []string{"-c", "-l", "-L", "-q", "--files-with-matches", "-o", "-wo", "--only-matching", "--no-filename", "-h"}
		args := slices.DeleteFunc(c.args, func(s string) bool { return slices.Contains(counts, s) || isContext(s) })
		plain, _, plainCode := runTe(append([]string{"--raw", "grep"}, append(args, "-n", "-H", ".")...)...)
		out, errs, code := runTe(append([]string{fmt.Sprintf("--budget=%d", rapid.IntRange(1, 900).Draw(t, "budget")), "grep"}, append(args, ".")...)...)
		e, err := te.Parse(out)
		if err != nil || errs != "" || code != plainCode {
			t.Fatalf("%v, %s, exit code %d, want %d:\n%s", err, errs, code, plainCode, out)
		}
		all, omitted := strings.Count(plain, "\n"), 0
		for _, o := range e.Omitted {
			omitted += o.N
		}
		if e.Meta.Matches != all || len(e.Matches)+omitted != all || all > 0 && len(e.Matches) == 0 {
			t.Fatalf("te grep %q: %d shown and %d more of %d, the header says %d:\n%s", args, len(e.Matches), omitted, all, e.Meta.Matches, out)
		}
		for _, m := range e.Matches {
			if !strings.Contains("\n"+plain, fmt.Sprintf("\n%s:%d:", m.Path, m.N)) {
				t.Fatalf("te grep %q: %s:%d is no match:\n%s", args, m.Path, m.N, plain)
			}
		}
		if e.Meta.Truncated != (omitted > 0) || e.Meta.Truncated != (e.Meta.Handle != "") {
			t.Fatalf("te grep %q: truncated %v and handle %q with %d left out", args, e.Meta.Truncated, e.Meta.Handle, omitted)
		}
		if e.Meta.Handle != "" {
			if whole, _, _ := runTe("--handle", e.Meta.Handle); whole != plain {
				t.Fatalf("te --handle %s gives %q, want %q", e.Meta.Handle, whole, plain)
			}
		}
	})
}

// nameUses are what stands around a name that is not its definition.
var nameUses = map[string][]string{
	"go":  {"\tx := %s(a, b)", "\treturn %s(ctx)", "// %s is called by all.", "\tif err := %s(x); err != nil {", "func New%[1]s() { %[1]s(nil, nil) }", "var _ = %s", "\t\"%s\": true,"},
	"py":  {"    x = %s(a, b)", "from lib import %s", "# %s is called by all", "    return %s(self)", "def make_%[1]s(): return %[1]s", "assert %s"},
	"ts":  {"  const x = %s(a);", "import { %s } from './lib';", "// %s is called by all", "  return new %s();", "export function make%[1]s() { return %[1]s; }", "  it('%s', () => {"},
	"md":  {"Use `%s` for it.", "- %s: see there"},
	"log": {"2026-11-22 10:00:00 INFO %s done"},
}

var nameDefinitions = map[string][]string{
	"go": {"func %s(a, b any) error {", "func (c *Client) %s(ctx context.Context) {", "type %s struct {", "var %s = errors.New(\"x\")"},
	"py": {"def %s(a, b):", "class %s(Base):", "    async def %s(self):", "%s = make()"},
	"ts": {"export function %s(a: string) {", "export class %s extends Base {", "export interface %s {", "export const %s = (a) => a;"},
}

// A reader that sees nothing but envelopes, as a model does, asks for a name,
// looks for the line that defines it and reads the file there. It sees that line
// in nine of ten cases, and by the handle in all the others. That costs it a
// quarter of plain grep's tokens at most.
//
// contract: TE-04 TE-07 TE-08
func TestAReaderOfEnvelopesFindsDefinitions(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	defined := namedTree(t, 45)
	seen, shown, plain := 0, 0, 0
	for name, line := range defined {
		out, _, _ := runTe("grep", "-w", name)
		raw, _, _ := runTe("--raw", "grep", "-n", "-w", name)
		shown, plain = shown+utp.Tokens(out), plain+utp.Tokens(raw)
		e, err := te.Parse(out)
		if err != nil || len(e.Matches) == 0 {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if i := slices.IndexFunc(e.Matches, func(m te.Match) bool { return m.Text == line }); i >= 0 {
			seen++
			place := fmt.Sprintf("%s:%d", e.Matches[i].Path, e.Matches[i].N)
			if read, _, _ := runTe("read", place); read != line+"\n" {
				t.Errorf("te read %s is %q, want %q", place, read, line)
			}
			continue
		}
		if whole, _, _ := runTe("--handle", e.Meta.Handle); !strings.Contains(whole, ":"+line+"\n") {
			t.Errorf("%s: the definition %q is not in the whole result:\n%s", name, line, whole)
		}
	}
	if seen*10 < len(defined)*9 || shown*4 > plain {
		t.Errorf("%d of %d definitions were shown, for %d of %d tokens: want 90 %% for 25 %%", seen, len(defined), shown, plain)
	}
}

// namedTree writes n names with a hundred uses each and more and one definition,
// which it returns, into files of all kinds.
func namedTree(t *testing.T, n int) (defined map[string]string) {
	t.Helper()
	defined = map[string]string{}
	files := map[string][]string{}
	for i := range n {
		lang := []string{"go", "py", "ts"}[i%3]
		name := fmt.Sprintf("Subject%d", i)
		defs := nameDefinitions[lang]
		defined[name] = fmt.Sprintf(defs[i/3%len(defs)], name)
		for k := range 100 + i {
			ext := []string{lang, lang, lang, "md", "log"}[k%5]
			use := nameUses[ext][k%len(nameUses[ext])]
			file := fmt.Sprintf("%s/part%d.%s", []string{"app", "lib", "docs", "tests"}[k%4], k%7, ext)
			files[file] = append(files[file], strings.ReplaceAll(strings.ReplaceAll(use, "%[1]s", name), "%s", name))
		}
		file := fmt.Sprintf("lib/part%d.%s", i%7, lang)
		files[file] = append(files[file], defined[name])
	}
	for file, lines := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return defined
}
