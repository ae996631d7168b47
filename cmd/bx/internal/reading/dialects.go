package reading

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// Dialects say in which forms calls are looked for. The zero value is all of
// them.
type Dialects struct {
	Own      []*grammar.Grammar // of the user's own, which join the built-in ones
	Grammars []*grammar.Grammar // these and no others; nil: all
	Prefer   []string           // names of grammars to try before others
	Model    string             // its grammars are tried before others, after Prefer
}

// Try reports why a dialect is of no use; nil: each is of use.
type Try func(*grammar.Grammar) error

// ParseDialects reads what --grammar says: "auto" or "", names (several by
// commas), "prefer:NAME" to try one before the others, or the path of a file
// that holds a grammar as JSON, which is tried. A path has a slash or ends in .json.
// own are dialects that may be named beside the built-in ones.
func ParseDialects(s string, try Try, own ...*grammar.Grammar) (d Dialects, err error) {
	d.Own = own
	name, prefer := strings.CutPrefix(s, "prefer:")
	switch {
	case s == "" || s == "auto":
		return d, nil
	case IsFile(s):
		g, err := Load(s, try)
		return Dialects{Grammars: []*grammar.Grammar{g}}, err
	}
	for n := range strings.SplitSeq(name, ",") {
		list := Named(strings.TrimSpace(n), own...)
		if len(list) == 0 {
			return d, unknown(n, own)
		}
		if !prefer {
			d.Grammars = append(d.Grammars, list...)
			continue
		}
		for _, g := range list {
			d.Prefer = append(d.Prefer, g.Name)
		}
	}
	return d, nil
}

// Named lists the dialects that go by a name: those of the user's own, else the
// built-in ones.
func Named(name string, own ...*grammar.Grammar) []*grammar.Grammar {
	mine := slices.DeleteFunc(slices.Clone(own), func(g *grammar.Grammar) bool { return !g.GoesBy(name) })
	if len(mine) > 0 {
		return mine
	}
	return grammar.Named(name)
}

// ForModel lists the dialects of a model's name, those of the user's own first.
func ForModel(model string, own ...*grammar.Grammar) []*grammar.Grammar {
	mine := slices.DeleteFunc(slices.Clone(own), func(g *grammar.Grammar) bool { return !grammar.Fits(g.Models, model) })
	return append(mine, grammar.ForModel(model)...)
}

// Written is the one dialect to write in: the one of a name, else the first of the
// model, else Hermes'.
func Written(name, model string, own ...*grammar.Grammar) (*grammar.Grammar, error) {
	if name == "" && model != "" {
		if list := ForModel(model, own...); len(list) > 0 {
			return list[0], nil
		}
	}
	if name == "" {
		name = "hermes"
	}
	if IsFile(name) {
		return nil, errors.New("grammar: a line names a grammar, no file: give the file under [dialects] in bx.toml")
	}
	d, err := ParseDialects(name, nil, own...)
	switch {
	case err != nil:
		return nil, fmt.Errorf("grammar: %w", err)
	case len(d.Grammars) == 0:
		return nil, fmt.Errorf("grammar %s: want the name of the one dialect to write in", name)
	}
	for _, g := range d.Grammars {
		if strings.EqualFold(g.Name, name) {
			return g, nil
		}
	}
	return d.Grammars[0], nil
}

// UnknownGrammar is a name that no grammar goes by.
type UnknownGrammar struct {
	Name string
	Near []string // names like it
}

// Error says what to do.
func (e *UnknownGrammar) Error() string {
	hint := `"bx grammar list" names them all`
	if len(e.Near) > 0 {
		hint = "did you mean " + strings.Join(e.Near, " or ") + "? " + hint
	}
	return fmt.Sprintf("no grammar is called %q: %s; a file is given with its path (./mine.json)", e.Name, hint)
}

func unknown(name string, own []*grammar.Grammar) error {
	e := &UnknownGrammar{Name: name}
	for _, alike := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return len(a) >= minNear && strings.Contains(b, a) },
		func(a, b string) bool { return len(b) >= minNear && strings.Contains(a, b) },
	} {
		if e.Near = near(squeeze(name), own, alike); len(e.Near) > 0 {
			break
		}
	}
	return e
}

const (
	minNear = 3 // letters that a part of a name has at least
	maxNear = 5 // names
)

// near lists the grammars that have a name alike.
func near(name string, own []*grammar.Grammar, alike func(name, of string) bool) (out []string) {
	for _, g := range append(slices.Clone(own), grammar.All()...) {
		if slices.ContainsFunc(append([]string{g.Name}, g.Aliases...), func(n string) bool { return alike(name, squeeze(n)) }) {
			out = append(out, g.Name)
		}
	}
	return out[:min(len(out), maxNear)]
}

// squeeze leaves the letters and digits of a name.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(s))
}

// IsFile reports whether what --grammar says is a path.
func IsFile(s string) bool {
	return strings.ContainsAny(s, `/\`) || strings.HasSuffix(strings.ToLower(s), ".json")
}

// Load reads a grammar from a file and tries it.
func Load(file string, try Try) (*grammar.Grammar, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	g, err := grammar.Load(b)
	if err == nil && try != nil {
		err = try(g)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return g, nil
}

// config is the parser's part of it, ready for many inputs.
func (d Dialects) config() parse.Config {
	c := parse.Config{Grammars: d.Grammars, Prefer: slices.Clone(d.Prefer)}
	if d.Grammars == nil {
		c.More = d.Own
	}
	if d.Model != "" {
		for _, g := range ForModel(d.Model, d.Own...) {
			c.Prefer = append(c.Prefer, g.Name)
		}
	}
	return c.Compiled()
}
