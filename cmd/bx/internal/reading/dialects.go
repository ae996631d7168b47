package reading

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/dialect"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// Dialects say in which forms calls are looked for. The zero value is all of
// them.
type Dialects struct {
	Grammars []*grammar.Grammar // these and no others; nil: all
	Prefer   []string           // names of grammars to try before others
	Model    string             // its grammars are tried before others, after Prefer
}

// ParseDialects reads what --grammar says: "auto" or "", names (several by
// commas), "prefer:NAME" to try one before the others, or the path of a file
// that holds a grammar as JSON. A path has a slash or ends in .json.
func ParseDialects(s string) (d Dialects, err error) {
	name, prefer := strings.CutPrefix(s, "prefer:")
	switch {
	case s == "" || s == "auto":
		return d, nil
	case IsFile(s):
		g, err := Load(s)
		return Dialects{Grammars: []*grammar.Grammar{g}}, err
	}
	for n := range strings.SplitSeq(name, ",") {
		list := grammar.Named(strings.TrimSpace(n))
		if len(list) == 0 {
			return d, unknown(n)
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

func unknown(name string) error {
	e := &UnknownGrammar{Name: name}
	for _, alike := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return len(a) >= minNear && strings.Contains(b, a) },
		func(a, b string) bool { return len(b) >= minNear && strings.Contains(a, b) },
	} {
		if e.Near = near(squeeze(name), alike); len(e.Near) > 0 {
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
func near(name string, alike func(name, of string) bool) (out []string) {
	for _, g := range grammar.All() {
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

// Load reads a grammar from a file.
func Load(file string) (*grammar.Grammar, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	g, err := dialect.Load(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return g, nil
}

// config is the parser's part of it, ready for many inputs.
func (d Dialects) config() parse.Config {
	c := parse.Config{Grammars: d.Grammars, Prefer: slices.Clone(d.Prefer)}
	if d.Model != "" {
		for _, g := range grammar.ForModel(d.Model) {
			c.Prefer = append(c.Prefer, g.Name)
		}
	}
	return c.Compiled()
}
