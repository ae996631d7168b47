package te

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Group is the matches of one file.
type Group struct {
	Path  string
	Count int   // of all its matches, also those not in Lines
	Lines []Hit // by number
	Test  bool  // the file is a test
	Kind  int   // files of a lower kind come first: 0 programs, 1 prose, 2 data
}

// Hit is a line of a group.
type Hit struct {
	Line
	Rank    int  // 0 defines what was looked for; a higher one matters less
	Context bool // the line stands near a match and is none
}

// Search is what was found, file by file.
type Search struct {
	Meta   Meta // Preview fills in Matches, Files, Truncated, HotZone and ContentType
	Groups []Group
	Least  int  // lines of a file that a preview has, if they fit
	Crumbs int  // directories that get a breadcrumb of their own; 0: 5
	NoZone bool // the header names no hot zone
}

// crumbs is how many directories get a breadcrumb of their own.
func (s Search) crumbs() int { return cmp.Or(s.Crumbs, maxCrumbs) }

// Preview writes the envelope of a search in at most budget bytes; 0 is no
// limit. A file with one line reads "path:LINE: text"; one with more has a line
// "path:", or "path: 3 of 12" if some are left out, and below it "LINE: text"
// each. Where not all fits, the files that define what was looked for come
// first and tests last, and each has its best lines. One match is shown
// whatever the budget.
func Preview(s Search, budget int) string {
	groups := slices.Clone(s.Groups)
	whole := preview(s, groups)
	if budget <= 0 || len(whole) <= budget {
		return whole
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return cmp.Or(a.class()-b.class(), a.Kind-b.Kind) })
	room := budget - reserve(s.Meta, tallied(groups), s.crumbs()) - len(`,"files":1000000,"handle":"res_0123456789ab"`)
	s.Meta.Truncated = s.Meta.Truncated || slices.ContainsFunc(groups, Group.hasContext) // which goes first
	shown := fitGroups(groups, max(s.Least, 1), room)
	for least := 2 * max(s.Least, 1); len(shown) == len(groups); least *= 2 { // room is left
		more := fitGroups(groups, least, room)
		if len(more) < len(groups) || least > most(groups) {
			break
		}
		shown = more
	}
	if len(shown) == 0 {
		first := groups[0]
		first.Lines = first.best(1)
		shown = []Group{first}
	}
	return preview(s, append(shown, unseen(groups[len(shown):])...))
}

// class is that of the best line, tests behind.
func (g Group) class() int {
	best := 1000
	for _, h := range g.Lines {
		if !h.Context {
			best = min(best, h.Rank)
		}
	}
	if g.Test {
		best += 1000
	}
	return best
}

func (g Group) hasContext() bool {
	return slices.ContainsFunc(g.Lines, func(h Hit) bool { return h.Context })
}

// best is the n best matches, by number, without context.
func (g Group) best(n int) (out []Hit) {
	for _, h := range g.Lines {
		if !h.Context {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b Hit) int { return a.Rank - b.Rank })
	out = out[:min(len(out), n)]
	slices.SortStableFunc(out, func(a, b Hit) int { return a.N - b.N })
	return out
}

func most(groups []Group) (n int) {
	for _, g := range groups {
		n = max(n, len(g.Lines))
	}
	return n
}

// fitGroups takes the best lines of groups from the top while they fit into n
// bytes. The first group that does not fit may give its best line alone.
func fitGroups(groups []Group, least, n int) (out []Group) {
	for _, g := range groups {
		g.Lines = g.best(least)
		if size := g.size(); size > n {
			if g.Lines = g.best(1); g.size() <= n {
				out = append(out, g)
			}
			return out
		}
		n -= g.size()
		out = append(out, g)
	}
	return out
}

func (g Group) size() int {
	var b strings.Builder
	g.write(&b)
	return b.Len()
}

func unseen(groups []Group) []Group {
	out := slices.Clone(groups)
	for i := range out {
		out[i].Lines = nil
	}
	return out
}

func preview(s Search, groups []Group) string {
	m := s.Meta
	totals, seen := tallied(groups), map[string]int{}
	var body strings.Builder
	shown := 0
	for _, g := range groups {
		g.write(&body)
		n := g.matches()
		seen[Dir(g.Path)] += n
		shown += n
	}
	m.Matches = sum(totals)
	m.Files = len(groups)
	if m.Truncated = m.Truncated || shown < m.Matches; !m.Truncated {
		m.Handle = "" // there is no more than this
	}
	if !s.NoZone {
		m.HotZone = cmp.Or(m.HotZone, hotZone(totals))
	}
	m.ContentType = cmp.Or(m.ContentType, commonOf(groups))
	var rest []Tally
	for _, t := range totals {
		if t.N -= seen[t.Dir]; t.N > 0 {
			rest = append(rest, t)
		}
	}
	slices.SortStableFunc(rest, func(a, b Tally) int { return b.N - a.N })
	out := m.String() + body.String()
	if len(rest) > 0 {
		out += "\n" + crumbs(rest, s.crumbs())
	}
	return out
}

func (g Group) matches() (n int) {
	for _, h := range g.Lines {
		if !h.Context {
			n++
		}
	}
	return n
}

func tallied(groups []Group) []Tally {
	n := map[string]int{}
	for _, g := range groups {
		n[Dir(g.Path)] += g.Count
	}
	return tallies(n)
}

func commonOf(groups []Group) string {
	var shown []Match
	for _, g := range groups {
		if len(g.Lines) > 0 {
			shown = append(shown, Match{Path: g.Path})
		}
	}
	return common(shown)
}

func (g Group) write(b *strings.Builder) {
	switch n := g.matches(); {
	case len(g.Lines) == 0:
		return
	case len(g.Lines) == 1 && g.Count == 1:
		b.WriteString(Quote(g.Path) + ":" + strconv.Itoa(g.Lines[0].N) + ": " + clean(g.Lines[0].Text) + "\n")
		return
	case n == g.Count:
		b.WriteString(Quote(g.Path) + ":\n")
	default:
		fmt.Fprintf(b, "%s: %d of %d\n", Quote(g.Path), n, g.Count)
	}
	for _, h := range g.Lines {
		sep := ": "
		if h.Context {
			sep = "- "
		}
		b.WriteString(strconv.Itoa(h.N) + sep + clean(h.Text) + "\n")
	}
}
