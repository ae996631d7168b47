package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/format"
)

// Format is how tools are offered, a word of format.ToolWords or the name of a
// text grammar.
type Format string

// ResultFormat is how results are sent, a word of format.ResultWords or the
// name of a text grammar.
type ResultFormat string

func (f Format) check(own Own) error       { return own.checkFormat(string(f), format.ToolWords()) }
func (f ResultFormat) check(own Own) error { return own.checkFormat(string(f), format.ResultWords()) }

func (o Own) checkFormat(s string, known []string) error {
	if slices.Contains(known, s) || o.Has(s) {
		return nil
	}
	return fmt.Errorf("unknown format %q%s: want %s, or a grammar: %s", s, o.meant(s, known), either(known), near(s, o.names()))
}

// Parser says where calls are looked for: a word of format.CallWords or a
// grammar, or "prefer:" and one of these.
type Parser string

func (p Parser) check(own Own) error {
	name, preferred := strings.CutPrefix(string(p), "prefer:")
	words := format.CallWords()
	if !slices.Contains(words, name) && !own.Has(name) || preferred && name == "auto" {
		return fmt.Errorf("unknown parser %q%s: want %s, prefer:<one of these>, or a grammar: %s", string(p), own.meant(name, words), either(words), near(name, own.names()))
	}
	return nil
}

// Prompt is a part of a system prompt; {{tools}} is where it wants the tools
// that go as text.
type Prompt string

// Template is how a prompt offers one tool: a template over prompt.Offer.
type Template string

// URL is the address of a server, with its scheme.
type URL string

func (u URL) check() error {
	p, err := url.Parse(string(u))
	if err != nil || p.Host == "" || p.Scheme != "http" && p.Scheme != "https" {
		return fmt.Errorf("bad url %q: want http://host:port or https://host:port", string(u))
	}
	return nil
}

// trim is u as a base for paths.
func (u URL) trim() string { return strings.TrimRight(string(u), "/") }

// Loopback reports whether u is on this machine.
func (u URL) Loopback() bool {
	p, err := url.Parse(string(u))
	if err != nil {
		return false
	}
	ip := net.ParseIP(p.Hostname())
	return strings.EqualFold(p.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

// Count is a whole number above zero.
type Count int

// either lists words for a sentence: "a, b or c".
func either(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}

// meant asks for the one word, of these and the grammars, that s may be a slip of.
func (o Own) meant(s string, words []string) string {
	words = append(slices.Clone(words), o.names()...)
	best := nearest(s, words)
	if distance(s, best) > maxSlips {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// maxSlips is how many letters may be wrong in a word that is still recognised.
const maxSlips = 3

// near puts the words that look like s first and cuts the rest off.
func near(s string, words []string) string {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b string) int { return distance(s, a) - distance(s, b) })
	if len(words) <= 8 {
		return strings.Join(words, ", ")
	}
	return strings.Join(words[:8], ", ") + ", … (docs/grammars.md lists all)"
}

// Meant is the one of some words that s is a slip of: a letter is wrong, missing
// or too many, or two have changed places, and in longer words two times so. "" is
// none, also where s is one of them.
func Meant(s string, words []string) string {
	if len(words) == 0 {
		return ""
	}
	s = strings.ToLower(s)
	best := nearest(s, words)
	slips := 1
	if len(s) > 5 {
		slips = 2
	}
	if d := distance(s, best); d == 0 || d > slips || len(s) < 3 {
		return ""
	}
	return best
}

// nearest is the word that s is least far from; of two as near that of the same
// length (stauts: status, not stats).
func nearest(s string, words []string) string {
	longer := func(word string) int { return max(len(word)-len(s), len(s)-len(word)) }
	return slices.MinFunc(words, func(a, b string) int { return cmp.Or(distance(s, a)-distance(s, b), longer(a)-longer(b)) })
}

// distance is the number of letters to insert, delete, change, or swap with the
// next.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
