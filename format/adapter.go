package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Adapter is what a family of models needs beside its dialect. It is data.
// What it takes out of a reply is taken out of the text for the reader, never
// out of a call's arguments.
type Adapter struct {
	Name    string
	Aliases []string
	Models  []string // globs like those of a grammar; none: the adapter is used only by name

	// NoSystem is for chat templates that know user and assistant only, in turn:
	// the system message goes into the first user message, and neighbours of one
	// role become one message.
	NoSystem bool
	Stops    []string        // sent until a tool has answered
	Ends     []string        // what stands behind one of these is not the model's to say; at the beginning only the mark goes
	Drop     []grammar.Fence // what stands between these is no part of the answer; where the closer is missing, all the rest
	Noise    []string        // marks without meaning
	Tight    bool            // of empty lines in a row one is enough
}

// Adapters lists the built-in ones. The order decides between globs.
func Adapters() []Adapter { return slices.Clone(adapters) }

// AdapterByName finds a built-in adapter by its name or an alias, in any case.
func AdapterByName(name string) (Adapter, error) {
	var names []string
	for _, a := range adapters {
		if strings.EqualFold(a.Name, name) || slices.ContainsFunc(a.Aliases, func(s string) bool { return strings.EqualFold(s, name) }) {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Adapter{}, fmt.Errorf("format: adapter %q: want %s", name, strings.Join(names, ", "))
}

// AdapterFor finds the built-in adapter for a model's name; its zero value
// changes nothing.
func AdapterFor(model string) Adapter {
	for _, a := range adapters {
		if grammar.Fits(a.Models, model) {
			return a
		}
	}
	return Adapter{}
}
