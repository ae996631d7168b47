package te

import (
	"fmt"
	"slices"
	"strings"
)

// Rank sorts matches for reading: definitions, other lines, definitions in
// tests, other lines of tests. The order within a class stays.
func Rank(ms []Match) {
	slices.SortStableFunc(ms, func(a, b Match) int { return a.class() - b.class() })
}

func (m Match) class() int {
	class := 0
	if !m.Def {
		class++
	}
	if m.Test {
		class += 2
	}
	return class
}

// hotZone names the two-level directory that holds at least half of at least
// five matches, with its share.
func hotZone(totals []Tally) string {
	n, all := map[string]int{}, sum(totals)
	for _, t := range totals {
		n[zone(t.Dir)] += t.N
	}
	zones := tallies(n)
	if all < 5 || zones[0].N*2 < all {
		return ""
	}
	return fmt.Sprintf("%s (%d%%)", zones[0].Dir, zones[0].N*100/all)
}

func zone(dir string) string {
	parts := strings.SplitAfterN(dir, "/", 3)
	return strings.Join(parts[:min(len(parts), 2)], "")
}

// common is the content type that all matches share.
func common(ms []Match) string {
	var kind string
	for i, m := range ms {
		k := ContentType(m.Path, "")
		if i > 0 && k != kind {
			return ""
		}
		kind = k
	}
	return kind
}
