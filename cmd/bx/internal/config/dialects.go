package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Dialects is the table [dialects]: files that hold dialects of the user's own,
// as records in JSON. They join the built-in ones, and may be named like these.
type Dialects struct {
	Files []string `toml:"files"` // relative ones lie beside the file that names them
}

// Own are dialects of the user's own.
type Own []*grammar.Grammar

// Try reports why a dialect is of no use: package dialect's; nil: each is of use.
type Try func(*grammar.Grammar) error

// LoadOwn reads the files of a table [dialects] that stands in a file.
func LoadOwn(in string, d Dialects, try Try) (own Own, err error) {
	for _, name := range d.Files {
		g, err := loadDialect(filepath.Dir(in), name)
		if err == nil && try != nil {
			err = try(g)
		}
		if err == nil && own.named(g.Name) != nil {
			err = fmt.Errorf("a dialect of the name %q is there already: want a name of its own", g.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		own = append(own, g)
	}
	return own, nil
}

func loadDialect(dir, name string) (*grammar.Grammar, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	text, err := os.ReadFile(name)
	var path *os.PathError
	if errors.As(err, &path) {
		return nil, fmt.Errorf("cannot be read: %w", path.Err)
	}
	if err != nil {
		return nil, err
	}
	g, err := grammar.Load(text)
	if err != nil {
		return nil, err
	}
	for _, n := range append(slices.Clone(g.Aliases), g.Name) {
		if !plainName.MatchString(n) || slices.Contains(words(), n) {
			return nil, fmt.Errorf("%q cannot be the name of a dialect: want letters, digits, \".\", \"_\" and \"-\", and none of %s", n, strings.Join(words(), ", "))
		}
	}
	return g, nil
}

var plainName = regexp.MustCompile(`^[\pL\pN][\pL\pN._-]*$`)

// words have a meaning of their own where a dialect may be named.
func words() []string {
	list := slices.Concat(format.ToolWords(), format.CallWords())
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(w string) bool { _, dialect := grammar.ByName(w); return dialect && w != "none" })
}

// named finds a dialect by its name or an alias; nil: there is none.
func (o Own) named(name string) *grammar.Grammar {
	for _, g := range o {
		if g.GoesBy(name) {
			return g
		}
	}
	return nil
}

// Has reports whether a name means a dialect, of the user's own or a built-in
// one. The alias "none" has a meaning of its own here.
func (o Own) Has(name string) bool {
	_, ok := grammar.ByName(name)
	return o.named(name) != nil || ok && name != "none"
}

// names lists the names of all dialects, the user's own first.
func (o Own) names() (names []string) {
	for _, g := range append(slices.Clone(o), grammar.All()...) {
		names = append(names, g.Name)
	}
	return names
}

// takeDialects reads the dialects that a document names.
func (c *Config) takeDialects(d document, limits *limits) error {
	for _, k := range keysOf(d.text) {
		if k.String() != "dialects.files" {
			continue
		}
		if err := limits.check(c, d, k); err != nil {
			return err
		}
		own, err := LoadOwn(d.path, c.Dialects, d.try)
		if err != nil {
			e := d.at(k.value.offset, k.value.len, "%s: %v", k, err)
			e.Err = err
			return e
		}
		c.Own = append(own, c.Own...)
	}
	return nil
}
