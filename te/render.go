package te

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// maxText is the longest text of a line, in bytes; the rest becomes "…".
const maxText = 400

// maxCrumbs is how many directories get a breadcrumb of their own, unless a
// Search says otherwise.
const maxCrumbs = 5

// Line is a line of a file, numbered from 1.
type Line struct {
	N    int
	Text string
}

// Match is one place that was found.
type Match struct {
	Path string // relative to the workspace, with slashes
	Line
	More []Line // further lines of the same place; they do not count as matches
	Def  bool   // the line defines something
	Test bool   // the file is a test
}

// Tally counts matches in a directory. Dir ends in a slash; "./" is the root.
type Tally struct {
	Dir string
	N   int
}

// Result is what a command found, best match first.
type Result struct {
	Meta    Meta // Render fills in Matches, Truncated, HotZone and ContentType
	Matches []Match
	Totals  []Tally // of all matches, also those not in Matches; nil: Matches is all there is
}

// Dir is the directory of a file as a Tally names it.
func Dir(file string) string {
	if d := path.Dir(file); d != "." {
		return d + "/"
	}
	return "./"
}

// Render writes the envelope in at most budget bytes; 0 is no limit. The best
// match is shown whatever the budget. When space is short a match first loses
// its further lines, then the matches of the lowest rank go.
func Render(r Result, budget int) string {
	totals := r.totals()
	if whole := render(r, r.Matches, totals); budget <= 0 || len(whole) <= budget {
		return whole
	}
	return render(r, fit(r.Matches, budget-reserve(r.Meta, totals, maxCrumbs)), totals)
}

func render(r Result, shown []Match, totals []Tally) string {
	m := r.Meta
	m.Matches = sum(totals)
	rest := omitted(totals, shown)
	m.Truncated = len(rest) > 0
	m.HotZone = cmp.Or(m.HotZone, hotZone(totals))
	m.ContentType = cmp.Or(m.ContentType, common(shown))
	var b strings.Builder
	b.WriteString(m.String())
	for _, s := range shown {
		s.write(&b)
	}
	if len(rest) > 0 {
		b.WriteString("\n" + crumbs(rest, maxCrumbs))
	}
	return b.String()
}

// totals is r.Totals, raised to what Matches itself holds.
func (r Result) totals() []Tally {
	n := map[string]int{}
	for _, m := range r.Matches {
		n[Dir(m.Path)]++
	}
	for _, t := range r.Totals {
		n[t.Dir] = max(n[t.Dir], t.N)
	}
	return tallies(n)
}

// tallies sorts by count, then by name.
func tallies(n map[string]int) []Tally {
	out := make([]Tally, 0, len(n))
	for dir, k := range n {
		if k > 0 {
			out = append(out, Tally{dir, k})
		}
	}
	slices.SortStableFunc(out, func(a, b Tally) int {
		return cmp.Or(b.N-a.N, strings.Compare(a.Dir, b.Dir))
	})
	return out
}

func sum(ts []Tally) (n int) {
	for _, t := range ts {
		n += t.N
	}
	return n
}

func omitted(totals []Tally, shown []Match) []Tally {
	n := map[string]int{}
	for _, t := range totals {
		n[t.Dir] = t.N
	}
	for _, m := range shown {
		n[Dir(m.Path)]--
	}
	return tallies(n)
}

func crumbs(rest []Tally, most int) string {
	var b strings.Builder
	own := rest[:min(len(rest), most)]
	if len(rest) == most+1 {
		own = rest
	}
	for _, t := range own {
		fmt.Fprintf(&b, "%s%d more in %s\n", crumb, t.N, Quote(t.Dir))
	}
	if others := rest[len(own):]; len(others) > 0 {
		fmt.Fprintf(&b, "%s%d more in %d other directories\n", crumb, sum(others), len(others))
	}
	return b.String()
}

// reserve is the most that a header and breadcrumbs can take.
func reserve(m Meta, totals []Tally, most int) int {
	m.Matches, m.Truncated = sum(totals), true
	m.HotZone = cmp.Or(m.HotZone, hotZone(totals))
	n := len(m.String()) + len(`,"content_type":"code/javascript"`) + 1
	long := make([]int, len(totals))
	for i, t := range totals {
		long[i] = len(crumbs([]Tally{{t.Dir, sum(totals)}}, most))
	}
	slices.SortStableFunc(long, func(a, b int) int { return b - a })
	for _, l := range long[:min(len(long), most+1)] {
		n += max(l, len(crumb)+len("1000000 more in 1000000 other directories\n"))
	}
	return n
}

// fit takes matches from the top while they fit into n bytes, but one at least.
func fit(ms []Match, n int) []Match {
	var out []Match
	for _, m := range ms {
		size := m.size()
		if size > n && len(m.More) > 0 {
			m.More = nil
			size = m.size()
		}
		if size > n && len(out) > 0 {
			break
		}
		n -= size
		out = append(out, m)
	}
	return out
}

func (m Match) size() int {
	var b strings.Builder
	m.write(&b)
	return b.Len()
}

func (m Match) write(b *strings.Builder) {
	name := Quote(m.Path)
	line := func(sep string, l Line) {
		b.WriteString(name + sep + strconv.Itoa(l.N) + sep + " " + clean(l.Text) + "\n")
	}
	line(":", m.Line)
	for _, l := range m.More {
		line("-", l)
	}
}
