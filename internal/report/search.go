package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search/index"
)

//go:embed testdata/search.txt
var searchQuestions string

// asked is a question about a tree with the place that answers it.
type asked struct {
	tree, file, symbol, question string
	line                         int
}

const (
	searchPlaces = 10 // that a search may give
	nearLines    = 5  // so far away a cited line still shows the definition
)

// searching measures the search on questions in plain words: how high it ranks
// the file that answers, and how often a cited line shows the definition.
// Arguments are the trees of the questions, as go=DIR py=DIR js=DIR; the sources
// may be of any release that has their names.
func searching(w io.Writer, trees []string) error {
	verbose := len(trees) > 0 && trees[0] == "-v"
	if verbose {
		trees = trees[1:]
	}
	dirs := map[string]string{}
	for _, t := range trees {
		name, dir, ok := strings.Cut(t, "=")
		if !ok {
			return fmt.Errorf("search: %s: want NAME=DIR", t)
		}
		dirs[name] = dir
	}
	all, missing := readQuestions(dirs)
	if len(all) == 0 {
		return errors.New("search: no tree is there: want go=DIR py=DIR js=DIR")
	}
	cache, err := os.MkdirTemp("", "search")
	if err != nil {
		return err
	}
	defer os.RemoveAll(cache)
	scores := map[string]*searchScore{}
	names := []string{"first half", "held back"}
	for tree, dir := range dirs {
		x, err := index.Open(context.Background(), dir, cache)
		if err != nil {
			return err
		}
		for i, q := range all {
			if q.tree != tree {
				continue
			}
			a, err := x.Query(context.Background(), q.question)
			if err != nil {
				return err
			}
			hits := a.Hits(searchPlaces)
			s := q.score(hits)
			for _, name := range []string{names[i%2], tree} {
				if scores[name] == nil {
					scores[name] = &searchScore{}
				}
				scores[name].add(s)
			}
			if verbose && s.line < 1 && i%2 == 0 {
				fmt.Fprintf(w, "%d %s %s:%d %s\n    %s\n", i+1, s, q.file, q.line, q.symbol, q.question)
				for _, h := range hits[:min(3, len(hits))] {
					fmt.Fprintf(w, "    %.1f %s:%d %s\n", h.Score, h.Path, h.Lines[0].Line, h.Symbol)
				}
			}
		}
		if err := x.Close(); err != nil {
			return err
		}
		names = append(names, tree)
	}
	for _, name := range names {
		s := scores[name]
		fmt.Fprintf(w, "%-10s  %3.0f questions  file %.2f  line %.2f  (mean reciprocal ranks)\n", name, s.n, s.file/s.n, s.line/s.n)
	}
	for _, m := range missing {
		fmt.Fprintln(w, "not in this release:", m)
	}
	return nil
}

// readQuestions gives the questions whose answers the trees have.
func readQuestions(dirs map[string]string) (all []asked, missing []string) {
	for line := range strings.Lines(searchQuestions) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(words) < 4 || words[0] == "#" || dirs[words[0]] == "" {
			continue
		}
		q := asked{tree: words[0], file: words[1], symbol: words[2], question: words[3]}
		text, _ := os.ReadFile(filepath.Join(dirs[q.tree], q.file))
		if q.line = definitionLine(string(text), q.symbol); q.line == 0 {
			missing = append(missing, q.tree+" "+q.file+" "+q.symbol)
			continue
		}
		all = append(all, q)
	}
	return all, missing
}

// definitionLine is where a name is defined, in one of the three languages.
func definitionLine(text, name string) int {
	n := regexp.QuoteMeta(name)
	def := regexp.MustCompile(`^\s*(?:(?:func (?:\([^)]*\) )?|type |(?:async )?def |class |(?:async )?function |const )` + n + `\b\s*(?:[\[(:=]|struct|interface)|(?:static )?(?:async )?#?` + n + ` \([^)]*\) \{$)`)
	at := 0
	for line := range strings.Lines(text) {
		if at++; def.MatchString(strings.TrimRight(line, "\r\n")) {
			return at
		}
	}
	return 0
}

// searchScore sums reciprocal ranks.
type searchScore struct{ n, file, line float64 }

func (s *searchScore) add(t searchScore) {
	s.n, s.file, s.line = s.n+1, s.file+t.file, s.line+t.line
}

func (s searchScore) String() string { return fmt.Sprintf("file %.2f line %.2f", s.file, s.line) }

// score ranks the file among the files of the hits, and the line among all hits.
func (q asked) score(hits []index.Hit) (s searchScore) {
	files := map[string]bool{}
	for i, h := range hits {
		files[h.Path] = true
		if h.Path != q.file {
			continue
		}
		if s.file == 0 {
			s.file = 1 / float64(len(files))
		}
		if cited := h.Lines[0].Line; s.line == 0 && cited >= q.line-nearLines && cited <= q.line+nearLines {
			s.line = 1 / float64(i+1)
		}
	}
	return s
}
