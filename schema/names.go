package schema

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// Resolve finds the tool that a written name means. An exact name is taken as
// it is. Else, in this order, and only if one tool is meant:
//
//   - the same name in other case, or with other marks between its words
//     ("Get-Weather", "getWeather", "get.weather" for get_weather)
//   - an alias
//   - either of these without a prefix that names no tool ("functions.",
//     "default_api.", "server__", "weather/"), without a doubling ("x.x"),
//     quotes, empty parentheses, or a call number (":0")
//   - a tool whose name ends in it after such a mark ("search" for mcp__docs__search)
//
// A merely similar name is never taken: see Nearest. The Fix has the path "".
func (s *Set) Resolve(name string) (canonical string, fix *utp.Fix, ok bool) {
	if s.Has(name) {
		return name, nil, true
	}
	if s.Len() == 0 {
		return name, nil, false
	}
	if !s.spelled().ends.may(name) {
		return name, nil, false
	}
	canonical, why, guess := s.meant(name)
	if canonical == "" {
		return name, nil, false
	}
	return canonical, &utp.Fix{Was: name, Now: canonical, Why: why, Guess: guess}, true
}

// meant finds the tool; guess says that less than its name was written.
func (s *Set) meant(name string) (canonical, why string, guess bool) {
	spellings := variants(name)
	for _, v := range spellings {
		if s.Has(v) {
			return v, "the tool's name with more around it", false
		}
		if hits := s.spelled().lower[lower(v)]; len(hits) == 1 {
			return hits[0], "the tool's name in other case", false
		}
		if hit, ok := near(s.spelled().folded, v); ok {
			return hit, "the tool's name in another spelling", false
		}
		if hit, _, ok := s.follow(v); ok {
			return hit, ByAlias, false
		}
	}
	for _, v := range spellings {
		if hit, ok := s.ending(v); ok {
			return hit, "the end of the tool's name", true
		}
	}
	return "", "", false
}

// ByAlias is the Why of the Fix of an alias.
const ByAlias = "an alias of the tool"

// marks are what stands between a tool's name and what it belongs to.
var marks = []string{"__", "::", ".", "/", ":"}

// variants lists what a written name may be apart from wrapping, the whole first.
func variants(name string) []string {
	name = strings.TrimSuffix(strings.Trim(name, " \t\r\n`'\""), "()")
	out := []string{name}
	add := func(v string) {
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if base, isNumbered := strings.CutSuffix(strings.TrimRight(name, "0123456789"), ":"); isNumbered {
		add(base)
	}
	for i := 0; i < len(out) && len(out) < 16; i++ {
		if rest, ok := afterMark(out[i]); ok {
			add(rest)
		}
	}
	return out
}

// afterMark cuts the first part of a dotted name off.
func afterMark(name string) (string, bool) {
	at, size := len(name), 0
	for _, m := range marks {
		if i := strings.Index(name, m); i > 0 && i < at {
			at, size = i, len(m)
		}
	}
	if at == len(name) {
		return "", false
	}
	return strings.TrimLeft(name[at+size:], "_:./ "), true
}

// ending finds the only tool whose name ends in name, after a mark.
func (s *Set) ending(name string) (hit string, ok bool) {
	for _, tool := range s.names {
		for rest, more := afterMark(tool); more; rest, more = afterMark(rest) {
			if fold(rest) != fold(name) || fold(name) == "" {
				continue
			}
			if ok {
				return "", false
			}
			hit, ok = tool, true
			break
		}
	}
	return hit, ok
}

// maxSuggestions bounds the answer of Nearest.
const maxSuggestions = 3

// Nearest lists at most three tools that a name may have been meant for, the
// likeliest first. It is for error texts: a model may be told, never obeyed.
func (s *Set) Nearest(name string) []string { return Near(name, s.Names()) }

// Near lists at most three of known that a name may have been meant for, the
// likeliest first.
func Near(name string, known []string) []string {
	type scored struct {
		name  string
		score int
	}
	var all []scored
	for _, tool := range known {
		if score := distance(fold(name), fold(tool)); score >= 0 {
			all = append(all, scored{tool, score})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return a.score - b.score })
	var out []string
	for _, c := range all[:min(len(all), maxSuggestions)] {
		out = append(out, c.name)
	}
	return out
}

// maxCompared bounds the names that are compared letter by letter.
const maxCompared = 100

// distance counts the edits from a to b; it is -1 if they are not alike.
// Names that contain one another are alike.
func distance(a, b string) int {
	if a == "" || b == "" || len(a) > maxCompared || len(b) > maxCompared {
		return -1
	}
	d := edits([]rune(a), []rune(b))
	long, short := a, b
	if len(long) < len(short) {
		long, short = short, long
	}
	if d <= max(2, len(long)/3) && d < len(short) || len(short) > 2 && strings.Contains(long, short) {
		return d
	}
	return -1
}

// edits is the Levenshtein distance.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diag := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := diag
			if x != y {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
