package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// Query is what to look for in each line.
type Query struct {
	Pattern    string
	Literal    bool // the pattern is plain text, else a regular expression (RE2)
	IgnoreCase bool
	Word       bool // the match must not be part of a longer word
}

// Match is a line that fits a query.
type Match struct {
	Path string
	Line int
	Text string // without the line end; cut at maxLine bytes
	Def  bool   // the line begins a definition
	Test bool   // the file is a test
}

// maxLine is the longest Text of a Match, in bytes.
const maxLine = 2000

// Exact finds the lines of files that fit q, by path and line. Files that are
// gone or not text are passed over. A bad pattern is an error, and ctx ends
// the search.
func Exact(ctx context.Context, root *os.Root, files []File, q Query) ([]Match, error) {
	fits, err := q.compile()
	if err != nil {
		return nil, err
	}
	found := make([][]Match, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			src, err := Read(root, f.Path, max(f.Size, DefaultMaxSize))
			if err == nil {
				found[i] = q.lines(fits, f.Path, src)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	var out []Match
	for _, ms := range found {
		out = append(out, ms...)
	}
	return out, nil
}

// compile gives a test of one line.
func (q Query) compile() (func(line []byte) bool, error) {
	switch {
	case q.Pattern == "":
		return nil, errors.New("search: empty pattern")
	case q.Literal:
		return q.plain(), nil
	}
	p := q.Pattern
	if q.Word {
		p = `(?:^|\W)(?:` + p + `)(?:\W|$)`
	}
	if q.IgnoreCase {
		p = `(?i:` + p + `)`
	}
	re, err := regexp.Compile(p)
	if err != nil {
		return nil, fmt.Errorf("search: pattern: %w", err)
	}
	return re.Match, nil
}

func (q Query) plain() func(line []byte) bool {
	want := []byte(q.Pattern)
	has := func(line []byte) bool { return bytes.Contains(line, want) }
	if q.Word {
		has = func(line []byte) bool { return hasWord(line, want) }
	}
	if !q.IgnoreCase {
		return has
	}
	want = bytes.ToLower(want)
	return func(line []byte) bool { return has(bytes.ToLower(line)) }
}

// hasWord reports whether want stands in line with no letter, digit or
// underscore beside it.
func hasWord(line, want []byte) bool {
	for at := 0; ; at++ {
		i := bytes.Index(line[at:], want)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRune(line[:at])
		after, _ := utf8.DecodeRune(line[at+len(want):])
		if !inWord(before) && !inWord(after) {
			return true
		}
	}
}

func inWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func (q Query) lines(fits func([]byte) bool, name string, src []byte) (out []Match) {
	if q.Literal && !q.IgnoreCase && !fits(src) {
		return nil
	}
	test, n := IsTest(name), 0
	for line := range bytes.Lines(src) {
		n++
		line = bytes.TrimRight(line, "\r\n")
		if !fits(line) {
			continue
		}
		_, def := Definition(string(line))
		out = append(out, Match{name, n, string(line[:min(len(line), maxLine)]), def, test})
	}
	return out
}
