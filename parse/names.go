package parse

import (
	"sort"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// names answers which tools were offered.
type names struct {
	set    *schema.Set
	sorted []string // for prefixes
}

func newNames(set *schema.Set) *names {
	sorted := append([]string(nil), set.Names()...)
	sort.Strings(sorted)
	return &names{set, sorted}
}

// begins reports whether some tool's name starts with s.
func (n *names) begins(s string) bool {
	i := sort.SearchStrings(n.sorted, s)
	return i < len(n.sorted) && strings.HasPrefix(n.sorted[i], s)
}

// resolve finds the offered tool that a name means.
func (p *Parser) resolve(name string) (string, *utp.Fix, bool) {
	if p.names == nil {
		return name, nil, false
	}
	return p.names.set.Resolve(name)
}

// declared reports whether a name means an offered tool.
func (p *Parser) declared(name string) bool {
	_, _, ok := p.resolve(name)
	return ok
}

// tools is the set of offered tools, nil if not known.
func (p *Parser) tools() *schema.Set {
	if p.names == nil {
		return nil
	}
	return p.names.set
}

// word is the length of the identifier that s begins with: letters, digits,
// "_", "-", ".", ":" and "/" after the first.
func word(s string) int {
	i := 0
	for i < len(s) && (isNameByte(s[i]) || i > 0 && (s[i] == '.' || s[i] == ':' || s[i] == '/')) {
		i++
	}
	return i
}
