package grammar

import "strings"

// generic wraps results where the dialect has no form of its own.
var generic = Fence{Open: "<tool_response name=\"{name}\">\n", Close: "\n</tool_response>"}

// Results is the fence around a tool's result.
func (g *Grammar) Results() Fence {
	if g.Result.Open == "" {
		return generic
	}
	return g.Result
}

// Stops lists the stop sequences of the dialect: the beginning of a tool's
// result, which only a model that invents one would write. A server may swallow
// the stop; no call is shortened by it.
func (g *Grammar) Stops() []string {
	open := strings.TrimSpace(literalHead(g.Results().Open))
	switch {
	case len(open) < 4:
		return nil
	case open[0] == '<':
		open, _, _ = strings.Cut(open, " ")
	case open[0] != '[':
		open = "\n" + open // ordinary words: at a line start only
	}
	return []string{open}
}

// literalHead is a marker up to its first slot or line break.
func literalHead(marker string) string {
	if i := strings.IndexAny(marker, "{\n"); i >= 0 {
		return marker[:i]
	}
	return marker
}
