package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// resolve finds the offered tool that a name means.
func (p *Parser) resolve(name string) (string, *utp.Fix, bool) {
	if p.tools == nil || name == "" {
		return name, nil, false
	}
	if p.tools.Has(name) {
		return name, nil, true
	}
	if name == p.unknown {
		return name, nil, false
	}
	own, fix, ok := p.tools.Resolve(name)
	if plain := unmark(name); !ok && plain != name {
		if own, _, ok = p.tools.Resolve(plain); ok {
			fix = &utp.Fix{Was: name, Now: own, Why: "Markdown's backslash"}
		} else {
			own = name
		}
	}
	if !ok {
		p.unknown = strings.Clone(name)
	}
	return own, fix, ok
}

// unmark takes the backslashes of Markdown out of a name: get\_weather.
func unmark(name string) string { return strings.ReplaceAll(name, `\_`, "_") }

// declared reports whether a name means an offered tool.
func (p *Parser) declared(name string) bool {
	_, _, ok := p.resolve(name)
	return ok
}

// plainly reports whether a name that stands as ordinary text means an offered
// tool. One word in another case ("Search" for search) is only a word; an alias
// was given by the user.
func (p *Parser) plainly(name string) bool {
	own, fix, ok := p.resolve(name)
	if fix != nil && fix.Why == schema.ByAlias && name == strings.ToLower(name) {
		return true
	}
	return ok && (strings.HasSuffix(name, own) || strings.ContainsAny(strings.TrimRight(name, ".:/"), "_-.:/") || isCamel(name))
}

// isCamel reports whether small and capital letters meet inside a name.
func isCamel(name string) bool {
	for i := 1; i < len(name); i++ {
		if scan.Lower(name[i]) != name[i] && scan.Upper(name[i-1]) != name[i-1] {
			return true
		}
	}
	return false
}

// word is the length of the identifier that s begins with: letters, digits,
// "_", "-", and after the first ".", ":", "/" and Markdown's "\_". A backslash at
// the end of s may begin the last.
func word(s string) int {
	i := 0
	for i < len(s) && (scan.IsNameByte(s[i]) || i > 0 && (s[i] == '.' || s[i] == ':' || s[i] == '/' || isMarked(s[i:]))) {
		i++
	}
	return i
}

func isMarked(s string) bool { return s[0] == '\\' && (len(s) == 1 || s[1] == '_') }

// nameOf is the name of the tool in an opener's slots: from the name, or from
// an id that holds it.
func (p *Parser) nameOf(g *gram, c *scan.Caps) string {
	name := c.Name
	if name == "" && c.ID != "" {
		name = p.nameInID(g.ID, c.ID)
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 && !p.declared(name) {
		name = name[i+1:]
	}
	return name
}

// inForm reports whether an id is of the form "functions.{name}:{n}": with its
// prefix, or with its counter.
func inForm(form, id string) bool {
	before, after, _ := strings.Cut(form, "{name}")
	sep := strings.TrimSuffix(after, "{n}")
	return before != "" && strings.HasPrefix(id, before) || sep != "" && strings.Contains(id, sep)
}

// nameInID reads the name out of an id of the form "functions.{name}:{n}".
// Where the id has another prefix, the name is its last dotted part. A mere
// counter holds none, and an id without a counter only that of an offered tool.
func (p *Parser) nameInID(form, id string) string {
	before, after, _ := strings.Cut(form, "{name}")
	sep := strings.TrimSuffix(after, "{n}")
	name, prefixed := strings.CutPrefix(id, before)
	i := strings.LastIndex(name, sep)
	counted := sep != "" && i >= 0
	if counted {
		name = name[:i]
	}
	switch {
	case p.declared(name):
		return name
	case strings.Trim(name, "0123456789") == "", !counted && p.tools != nil:
		return ""
	case !prefixed:
		return name[strings.LastIndexByte(name, '.')+1:]
	}
	return name
}

// nothings are names that models call where no tool fits.
var nothings = map[string]bool{
	"no_function": true, "no_function_call": true, "no_tool": true, "no_tool_call": true, "no_call": true,
	"none": true, "nonetype": true, "null": true, "noop": true, "no_op": true, "out_of_domain": true,
}

// meansNothing reports whether a name that was not offered says that no tool fits.
func (p *Parser) meansNothing(name string) bool {
	return p.tools != nil && nothings[strings.ToLower(name)] && !p.declared(name)
}

// noTokens takes control tokens ("<|message|>") out of a name: a model may write
// one there, but none belongs there.
func noTokens(name string) string {
	for {
		before, rest, found := strings.Cut(name, "<|")
		_, after, closed := strings.Cut(rest, "|>")
		if !found || !closed {
			return name
		}
		name = before + after
	}
}
