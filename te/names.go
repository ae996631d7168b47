package te

import (
	"path"
	"slices"
	"strings"
)

// Names writes the envelope of a list of paths in at most budget bytes. Where
// not all fits, every directory shows some, and what is left out is counted.
func Names(m Meta, names []string, budget int) string {
	m.Files = len(names)
	totals := map[string]int{}
	for _, n := range names {
		totals[Dir(n)]++
	}
	room := budget - reserve(m, tallies(totals), maxCrumbs)
	shownNames, seen := spread(names, room)
	rest := map[string]int{}
	for dir, n := range totals {
		rest[dir] = n - seen[dir]
	}
	left := tallies(rest)
	m.Truncated = len(left) > 0
	var b strings.Builder
	b.WriteString(m.String())
	for _, n := range shownNames {
		b.WriteString(Quote(n) + "\n")
	}
	if len(left) > 0 {
		b.WriteString("\n" + crumbs(left, maxCrumbs))
	}
	return b.String()
}

// spread chooses names for room bytes: the first of each directory, then the
// second, and so on. They stay in order.
func spread(names []string, room int) (out []string, seen map[string]int) {
	turn := make([]int, len(names)) // which of its directory a name is
	order := make([]int, len(names))
	count := map[string]int{}
	for i, n := range names {
		count[path.Dir(n)]++
		turn[i], order[i] = count[path.Dir(n)], i
	}
	slices.SortStableFunc(order, func(a, b int) int { return turn[a] - turn[b] })
	chosen := make([]bool, len(names))
	for at, i := range order {
		if room -= len(Quote(names[i])) + 1; room < 0 && at > 0 {
			break
		}
		chosen[i] = true
	}
	seen = map[string]int{}
	for i, n := range names {
		if chosen[i] {
			out = append(out, n)
			seen[Dir(n)]++
		}
	}
	return out, seen
}
