package search

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// Query is what to look for in each line.
type Query struct {
	Pattern    string
	Literal    bool // the pattern is plain text, else a regular expression (RE2; \w, \d and \b know ASCII)
	IgnoreCase bool
	Word       bool // the match must not be part of a longer word
	Line       bool // the match must be the whole line
	CRLF       bool // a line end may be "\r\n", else "\r" belongs to the line
	Longest    bool // Spans of a choice are the longest, as POSIX has it, unless the pattern asks for a short one

	Invert        bool // the lines that do not match
	Before, After int  // lines of context
	Max           int  // matches of a file, after which its search ends; 0 is no limit
	Binary        bool // search files that are not text, too
}

// Pattern is the compiled pattern of a query. It is safe for concurrent use.
type Pattern struct {
	query   Query
	re      *regexp.Regexp
	spans   *regexp.Regexp
	needles []needle // every match has one; none: unknown
	exact   bool     // a needle is a match
	program *program // nil: it would be too long
}

// Compile compiles the pattern of q.
func Compile(q Query) (*Pattern, error) {
	text := q.Pattern
	if q.Literal {
		text = regexp.QuoteMeta(text)
	}
	if text == "" && !q.Line {
		return nil, errors.New("search: empty pattern")
	}
	flags := syntax.Perl
	if q.IgnoreCase {
		flags |= syntax.FoldCase
	}
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, fmt.Errorf("search: pattern: %w", err)
	}
	p := &Pattern{query: q, needles: needles(tree), exact: !q.Line && plain(tree)}
	for i := range p.needles {
		p.needles[i].word = q.Word && p.exact
	}
	if p.re, err = regexp.Compile(q.around(text)); err != nil {
		return nil, fmt.Errorf("search: pattern: %w", err)
	}
	p.program = newProgram(q.around(text), q.CRLF)
	p.spans = p.re
	if q.Longest && !lazy(tree) {
		p.spans = regexp.MustCompile(q.around(text))
		p.spans.Longest()
	}
	return p, nil
}

// lazy reports a repeat that is to be as short as it can be.
func lazy(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		if re.Flags&syntax.NonGreedy != 0 {
			return true
		}
	}
	return slices.ContainsFunc(re.Sub, lazy)
}

// around puts the conditions of q around a regular expression. The match is
// its first group.
func (q Query) around(text string) string {
	switch {
	case q.Line:
		text = `^(` + text + `)$`
	case q.Word:
		text = `(?:^|\W)(` + text + `)(?:\W|$)`
	}
	if q.IgnoreCase {
		text = `(?i:` + text + `)`
	}
	return text
}

// plain reports a text, or a choice of texts, that can be found byte by byte.
func plain(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		n, ok := literal(re)
		return ok && len(n.text) == len(string(re.Rune))
	case syntax.OpCapture:
		return plain(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !plain(sub) {
				return false
			}
		}
		return len(re.Sub) <= maxNeedles
	}
	return false
}

// Spans are the places of the matches in a line, each from its first byte to
// the one after its last.
func (p *Pattern) Spans(line string) (out [][2]int) {
	if !p.query.Word && !p.query.Line {
		for _, m := range p.spans.FindAllStringIndex(line, -1) {
			if m[1] > m[0] {
				out = append(out, [2]int(m))
			}
		}
		return out
	}
	for at := 0; at <= len(line); { // one letter may stand between two words, at the end of one match and the beginning of the next
		m := p.spans.FindStringSubmatchIndex(line[at:])
		if m == nil {
			return out
		}
		start, end := at+m[2], at+m[3]
		switch {
		case start == at && at > 0 && inWord(line[at-1]): // no line begins here
			_, n := utf8.DecodeRuneInString(line[at:])
			at += max(n, 1)
			continue
		case end > start:
			out = append(out, [2]int{start, end})
		}
		at += max(m[3], 1)
	}
	return out
}

// finder finds the lines of one buffer that match, from left to right.
type finder struct {
	*Pattern
	hunts     []hunt
	automaton *automaton // nil: there is no program

	passed int // bytes
	effort int // of the hunts, about as many as an automaton passes bytes in that time
}

func (p *Pattern) finder() *finder {
	f := &finder{Pattern: p, hunts: make([]hunt, len(p.needles))}
	if p.program != nil {
		f.automaton = p.program.automaton()
	}
	return f
}

const (
	// hopEffort is what it takes to look for a needle's next rare byte.
	hopEffort = 8
	// lineEffort is what it takes to look at one line.
	lineEffort = 32
	// trial is how many bytes are passed before effort is judged.
	trial = 64 << 10
)

// begin makes f ready for another buffer. Needles that are found all the time
// are not looked for any more.
func (f *finder) begin(buf []byte) {
	for i, n := range f.needles[:len(f.hunts)] {
		f.effort += hopEffort * f.hunts[i].hops
		f.hunts[i] = n.hunt()
	}
	if f.automaton != nil && f.passed > trial && f.effort > f.passed {
		f.hunts = nil
	}
	f.passed += len(buf)
}

// next is the first line that matches and begins at or after from, itself the
// beginning of a line. It ends before its line feed. ok is false if there is none.
func (f *finder) next(buf []byte, from int) (start, end int, ok bool) {
	for from < len(buf) {
		start, end, sure := f.candidate(buf, from)
		if start >= len(buf) {
			return 0, 0, false
		}
		if sure || f.fits(buf[start:end]) {
			return start, end, true
		}
		from = end + 1
	}
	return 0, 0, false
}

// candidate is the next line that may match.
func (f *finder) candidate(buf []byte, from int) (start, end int, sure bool) {
	switch {
	case len(f.hunts) > 0:
		at := len(buf)
		for i := range f.hunts {
			at = min(at, f.hunts[i].from(buf, from))
		}
		if at == len(buf) {
			return at, at, false
		}
		return lineStart(buf, from, at), lineEnd(buf, at), f.exact
	case f.swift():
		start, end = f.automaton.find(buf, from)
		return start, end, f.swift() && f.automaton.sure(buf[start:end])
	}
	return from, lineEnd(buf, from), false
}

// swift reports that the automaton is faster than regexp.
func (f *finder) swift() bool { return f.automaton != nil && !f.automaton.done }

// fits reports whether a line matches.
func (f *finder) fits(line []byte) bool {
	f.effort += lineEffort
	if f.swift() {
		switch {
		case !f.automaton.fits(line):
			return false
		case f.swift() && f.automaton.sure(line):
			return true
		}
	}
	if f.query.CRLF {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	return f.re.Match(line)
}

func lineEnd(buf []byte, at int) int {
	if i := bytes.IndexByte(buf[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(buf)
}
