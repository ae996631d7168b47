package prompt

import (
	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

var Examples = examples

// OfferOf is a tool as a manifest of g shows it.
func OfferOf(g *grammar.Grammar, t utp.Tool) (*Offer, error) {
	w := Writer{Grammar: g}
	o, _, err := w.offer(forms[g.Manifest], t)
	return o, err
}

// Forms are the names of the manifests that grammars may ask for.
func Forms() (names []string) {
	for name := range forms {
		names = append(names, name)
	}
	return names
}
