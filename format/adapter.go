package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Adapter is what a family of models needs beside its dialect. It is data.
type Adapter struct {
	Name    string
	Aliases []string
	Models  []string // globs like those of a grammar; none: the adapter is used only by name

	// NoSystem is for chat templates that know user and assistant only, in turn:
	// the system message goes into the first user message, and neighbours of one
	// role become one message.
	NoSystem bool
	Stops    []string // sent until a tool has answered

	grammar.Marks
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
