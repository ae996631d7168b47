package index

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search"
)

// A hit shows at most further lines beside the one to cite: those with words
// of the question, and where these are less than fill, those that come next.
const (
	further = 5
	fill    = 3
)

// maxShown is how much of a line is looked at for words, in bytes.
const maxShown = 1000

// hits shows places by the lines of their files. A place whose file is gone or
// got shorter is left out.
func hits(places []place, files func(string) []string, terms []string) []Hit {
	out := make([]Hit, 0, len(places))
	var lines []string
	for i, p := range places {
		if i == 0 || p.path != places[i-1].path {
			lines = files(p.path)
		}
		if p.end <= len(lines) {
			out = append(out, p.hit(lines, terms))
		}
	}
	return out
}

func (p place) hit(lines, terms []string) Hit {
	symbol, _, _ := strings.Cut(p.symbols, " ")
	h := Hit{Path: p.path, Start: p.start, End: p.end, Symbol: symbol, Score: p.score}
	for i, n := range p.show(lines, terms) {
		text := strings.TrimRight(lines[n-1], "\r")
		def := i == 0 && symbol != ""
		h.Lines = append(h.Lines, search.Match{Path: p.path, Line: n, Text: text, Def: def, Test: search.IsTest(p.path)})
	}
	return h
}

// show chooses lines by number: first the definition, or the best line of a
// passage; then others in their order.
func (p place) show(lines, terms []string) []int {
	best := p.best(lines, terms)
	first := p.line
	if p.symbols == "" && len(best) > 0 {
		first = best[0]
	}
	var rest []int
	for _, n := range best {
		if n != first && len(rest) < further {
			rest = append(rest, n)
		}
	}
	for n := first + 1; n <= p.end && len(rest) < fill; n++ {
		if !slices.Contains(rest, n) && strings.TrimSpace(lines[n-1]) != "" {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	return append([]int{first}, rest...)
}

// best are the lines that have words of the question, those with most first.
func (p place) best(lines, terms []string) (out []int) {
	count := map[int]int{}
	for n := p.start; n <= p.end; n++ {
		if count[n] = words(lines[n-1], terms); count[n] > 0 {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return count[b] - count[a] })
	return out
}

// words counts the terms that a line has.
func words(line string, terms []string) (n int) {
	seen := make([]bool, len(terms))
	each(line[:min(len(line), maxShown)], func(w string) {
		for i, t := range terms {
			if !seen[i] && alike(w, t) {
				seen[i] = true
				n++
			}
		}
	})
	return n
}
