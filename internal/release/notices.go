package release

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// The names of the licence files in everything that is built.
const (
	licenseFile = "LICENSE"
	noticesFile = "THIRD_PARTY_LICENSES"
)

// licences returns the module's own licence and those of linked code.
func licences(own, notices []byte) []File {
	return []File{{licenseFile, 0o644, own}, {noticesFile, 0o644, notices}}
}

// linked is a set of packages of the module and the platforms that they are built for.
type linked struct {
	packages  []string
	tags      string
	platforms []Platform
	changed   string // what of others' is not as they wrote it
}

var (
	shipped = linked{packages: []string{"./cmd/bx", "./cmd/te"}, platforms: Platforms}
	engine  = linked{[]string{"./cmd/bx/wasm"}, "render", []Platform{{"wasip1", "wasm"}},
		"Go's runtime and github.com/santhosh-tekuri/jsonschema/v6 were changed for it, as\ninternal/report/wasm.go of the repository shows.\n"}
)

// source is third-party code: a module, or Go itself.
type source struct {
	name  string // with the version
	texts []File // its licences, by their path in it
}

// Notices returns the THIRD_PARTY_LICENSES of the programs.
func Notices(ctx context.Context, root string) ([]byte, error) {
	return Job{Root: root}.notices(ctx, shipped)
}

// notices returns the licences of all linked code, unchanged. The licences of Go and of
// most modules require that they are shipped.
func (j Job) notices(ctx context.Context, l linked) ([]byte, error) {
	found := map[string]*source{}
	for _, p := range l.platforms {
		list, err := j.list(ctx, l, p)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(list) {
			part := strings.Split(strings.TrimSpace(line), "\t") // module, version, its folder, the package's
			if len(part) != 4 {
				continue
			}
			name := part[0] + " " + part[1]
			if found[name] == nil {
				found[name] = &source{name: name}
			}
			if err := found[name].read(part[2], part[3]); err != nil {
				return nil, err
			}
		}
	}
	std := source{name: "Go's runtime and standard library, " + runtime.Version()}
	root, err := j.command(ctx, "go", "env", "GOROOT")
	if err == nil {
		err = std.read(root, root)
	}
	if err != nil {
		return nil, err
	}
	all := []source{std}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if len(found[name].texts) == 0 {
			return nil, fmt.Errorf("release: the module %s has no file with a licence: it cannot be shipped", name)
		}
		all = append(all, *found[name])
	}
	return written(all, l.changed), nil
}

// list returns go list's lines for the third-party packages linked for a platform.
func (j Job) list(ctx context.Context, l linked, p Platform) (string, error) {
	const format = `{{with .Module}}{{if not .Main}}{{.Path}}{{"\t"}}{{.Version}}{{"\t"}}{{.Dir}}{{"\t"}}{{$.Dir}}{{end}}{{end}}`
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-tags", l.tags, "-f", format}, l.packages...)...)
	cmd.Dir, cmd.Env = j.Root, p.env()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("release: go list for %s: %w", p, err)
	}
	return string(out), nil
}

// isLicence matches the name of a licence file: LICENSE, LICENSE-APACHE, COPYING.txt, NOTICE.md.
var isLicence = regexp.MustCompile(`(?i)^(li[cs]en[cs]e|unlicense|copying|copyright|notice|patents)([-_.]\w+)*$`)

// read adds the licences of a package: those in its folder and in the folders above it,
// up to the module's own.
func (s *source) read(module, dir string) error {
	for ; strings.HasPrefix(dir, module); dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name, err := filepath.Rel(module, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			if !e.Type().IsRegular() || !isLicence.MatchString(e.Name()) || strings.HasSuffix(name, ".go") || slices.ContainsFunc(s.texts, func(f File) bool { return f.Name == name }) {
				continue
			}
			body, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			s.texts = append(s.texts, File{name, 0o644, body})
		}
	}
	s.texts = inOrder(s.texts)
	return nil
}

// written returns each text once, below the names of all sources that use it.
func written(all []source, changed string) []byte {
	var b bytes.Buffer
	b.WriteString("Code of others that is part of this, and its licences.\n" + changed)
	whose := map[string][]string{}
	for _, s := range all {
		for _, f := range s.texts {
			text := plain(f.Body)
			whose[text] = append(whose[text], s.name+" ("+f.Name+")")
		}
	}
	for _, s := range all {
		for _, f := range s.texts {
			text := plain(f.Body)
			if names := whose[text]; names != nil {
				fmt.Fprintf(&b, "\n%s\n%s\n%[1]s\n\n%[3]s\n", strings.Repeat("=", 78), strings.Join(names, "\n"), text)
				delete(whose, text)
			}
		}
	}
	return b.Bytes()
}

// plain returns a text with Unix line ends and no blank lines around it.
func plain(body []byte) string {
	return strings.Trim(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n")
}
