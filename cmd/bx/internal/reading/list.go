//go:build !wasm || render

package reading

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

// Entry is a grammar in a list.
type Entry struct {
	Name    string       `json:"name"`
	Aliases []string     `json:"aliases"`
	Models  []string     `json:"models"`
	Body    grammar.Body `json:"body"`
	Example string       `json:"example"` // a call as a model writes it
}

// Entries makes a list of grammars.
func Entries(list []*grammar.Grammar) []Entry {
	out := []Entry{}
	for _, g := range list {
		out = append(out, Entry{g.Name, append([]string{}, g.Aliases...), append([]string{}, g.Models...), g.Body, example(g)})
	}
	return out
}

// example is a call in the grammar, or "" if it cannot say it.
func example(g *grammar.Grammar) string {
	text, err := prompt.Call(g, utp.Call{Name: "get_weather", Args: json.RawMessage(`{"city":"Oslo","days":3}`)})
	if err != nil {
		return ""
	}
	return text
}

// List prints grammars for people.
func List(w io.Writer, list []*grammar.Grammar) {
	for _, e := range Entries(list) {
		fmt.Fprintf(w, "%s  (%s)\n", e.Name, e.Body)
		for _, l := range []struct {
			name  string
			words []string
		}{{"aliases", e.Aliases}, {"models", e.Models}} {
			if len(l.words) > 0 {
				fmt.Fprintf(w, "  %-8s %s\n", l.name, strings.Join(l.words, ", "))
			}
		}
		for line := range strings.Lines(e.Example) {
			fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\n"))
		}
		fmt.Fprintln(w)
	}
}
