package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// resolve finds the offered tool that a name means.
func (p *Parser) resolve(name string) (string, *utp.Fix, bool) {
	if p.tools == nil {
		return name, nil, false
	}
	return p.tools.Resolve(name)
}

// declared reports whether a name means an offered tool.
func (p *Parser) declared(name string) bool {
	if p.tools == nil || name == "" {
		return false
	}
	_, _, ok := p.tools.Resolve(name)
	return ok
}

// plainly reports whether a name that stands as ordinary text means an offered
// tool. One word in another case ("Search" for search) is only a word.
func (p *Parser) plainly(name string) bool {
	own, _, ok := p.resolve(name)
	return ok && (strings.HasSuffix(name, own) || strings.ContainsAny(name, "_-.:/") || isCamel(name))
}

// isCamel reports whether small and capital letters meet inside a name.
func isCamel(name string) bool {
	for i := 1; i < len(name); i++ {
		if lower(name[i]) != name[i] && upper(name[i-1]) != name[i-1] {
			return true
		}
	}
	return false
}

// word is the length of the identifier that s begins with: letters, digits,
// "_", "-", and after the first ".", ":" and "/".
func word(s string) int {
	i := 0
	for i < len(s) && (isNameByte(s[i]) || i > 0 && (s[i] == '.' || s[i] == ':' || s[i] == '/')) {
		i++
	}
	return i
}

// nameOf is the name of the tool in an opener's slots: from the name, or from
// an id that holds it.
func (p *Parser) nameOf(g *gram, c *caps) string {
	name := c.name
	if name == "" && c.id != "" {
		name = nameInID(g.ID, c.id)
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 && !p.declared(name) {
		name = name[i+1:]
	}
	return name
}

// nameInID reads the name out of an id of the form "functions.{name}:{n}".
// Where the id has another form, the name is its last dotted part; a mere
// counter holds none.
func nameInID(form, id string) string {
	before, after, _ := strings.Cut(form, "{name}")
	sep := strings.TrimSuffix(after, "{n}")
	id = strings.TrimPrefix(id, before)
	if i := strings.LastIndex(id, sep); sep != "" && i >= 0 {
		id = id[:i]
	}
	if strings.Trim(id, "0123456789") == "" {
		return ""
	}
	return id
}
