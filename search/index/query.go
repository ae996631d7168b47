package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/search"
)

// What a file's score is made of. Source: measured on the first half of the
// questions of make search, and on 234 about other trees.
const (
	summed     = 5   // best chunks of a file that count, each less than the one before it
	nextShare  = 0.3 // so much less
	testWeight = 0.5
	docWeight  = 0.6
	bareWeight = 0.5 // code that defines nothing, such as a list of imports, or the comment on a package
	pathWeight = 0.5 // of the words of the question that a path has
	leadWeight = 1.2 // of a file that has the name of its folder: it says what the folder is for
	again      = 0.9 // of a further place of a file
)

// Hit is a place that answers a question.
type Hit struct {
	Path       string
	Start, End int    // the lines of the place, from 1
	Symbol     string // what it defines, "" for a passage
	Score      float64
	Lines      []search.Match // the line to cite first, then others that have words of the question
}

// Total counts the places of a directory that have any word of the question.
type Total struct {
	Dir string // ends in a slash; "./" is the root
	N   int
}

// ErrNoWords says that a question has no word that can be searched for.
var ErrNoWords = errors.New("index: the question has no words")

// Answer is the places that answer a question.
type Answer struct {
	Totals []Total // of every place that has any word of the question, by directory

	files [][]place
	lines func(file string) []string
	terms []string
}

// Query brings the index up to date and looks for the places that answer a question.
func (x *Index) Query(ctx context.Context, question string) (*Answer, error) {
	a := &Answer{terms: Terms(question), lines: x.lines}
	if len(a.terms) == 0 {
		return nil, ErrNoWords
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var found []place
	var words []weighed
	err := x.again(ctx, func(ctx context.Context) error {
		if err := x.refresh(ctx); err != nil {
			return err
		}
		return x.snapshot(ctx, func(tx *sql.Tx) error {
			c, err := load(ctx, tx)
			if err != nil {
				return err
			}
			found, words, err = c.places(a.terms)
			a.Totals = c.totals()
			return err
		})
	})
	if err == nil {
		err = x.judge(ctx, found, words)
	}
	if err != nil {
		return nil, fmt.Errorf("index: query: %w", err)
	}
	a.files = rank(found, question)
	return a, nil
}

// Hits are the limit best places, of different files as far as there are, in the
// order of their files.
func (a *Answer) Hits(limit int) []Hit { return hits(pick(a.files, limit), a.lines, a.terms) }

// recent is how long ago the index may have been brought up to date for Having.
const recent = 2 * time.Second

// Having gives the files that have a name from the code, or one that reads like it,
// by path; of several names, those that have all in one place. What changed in the last two seconds may be missing.
func (x *Index) Having(ctx context.Context, name string) (files []search.File, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	err = x.again(ctx, func(ctx context.Context) error {
		if time.Since(x.fresh) > recent {
			if err := x.refresh(ctx); err != nil {
				return err
			}
		}
		files, err = x.having(ctx, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("index: files with a name: %w", err)
	}
	return files, nil
}

func (x *Index) having(ctx context.Context, name string) (files []search.File, err error) {
	var names []string
	identifiers(name, func(id string) { names = append(names, strings.ToLower(strings.ReplaceAll(id, "_", ""))) })
	if len(names) == 0 {
		return nil, ErrNoWords
	}
	err = x.snapshot(ctx, func(tx *sql.Tx) error {
		c, err := load(ctx, tx)
		if err == nil {
			files, err = c.having(names)
		}
		return err
	})
	return files, err
}

func (x *Index) snapshot(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(f(tx), tx.Rollback())
}

// place is a chunk that matches.
type place struct {
	id               int64 // of the chunk
	path             string
	start, end, line int
	symbols          string
	score            float64
	named            float64 // what its path says, the same for all places of a file
}

// rank groups places by file, best file first, best place of a file first.
func rank(found []place, question string) [][]place {
	byFile := map[string][]place{}
	tests, docs := about(question)
	for _, p := range found {
		p.score *= p.weight(tests, docs)
		byFile[p.path] = append(byFile[p.path], p)
	}
	files := make([][]place, 0, len(byFile))
	for _, ps := range byFile {
		slices.SortFunc(ps, func(a, b place) int { return cmp.Or(cmp.Compare(b.score, a.score), a.start-b.start) })
		files = append(files, ps)
	}
	slices.SortFunc(files, func(a, b []place) int {
		return cmp.Or(cmp.Compare(total(b), total(a)), strings.Compare(a[0].path, b[0].path))
	})
	return files
}

func total(ps []place) (sum float64) {
	share := 1.0
	for _, p := range ps[:min(len(ps), summed)] {
		sum += p.score * share
		share *= nextShare
	}
	if sum += ps[0].named; ps[0].leads() {
		sum *= leadWeight
	}
	return sum
}

var (
	testWords = strings.Fields("test tests tested testing spec specs fixture fixtures benchmark")
	docWords  = strings.Fields("doc docs document documents documented documentation readme changelog markdown guide manual json license licence")
)

// about reports whether a question asks for tests or for documents.
func about(question string) (tests, docs bool) {
	each(question, func(w string) {
		tests = tests || slices.Contains(testWords, w)
		docs = docs || slices.Contains(docWords, w)
	})
	return tests, docs
}

func (p place) weight(tests, docs bool) float64 {
	w := 1.0
	if !tests && search.IsTest(p.path) {
		w *= testWeight
	}
	switch code := search.KindOf(p.path) == search.Code; {
	case code && p.bare():
		w *= bareWeight
	case !code && !docs:
		w *= docWeight
	}
	return w
}

// leads reports whether a file and its folder have one name.
func (p place) leads() bool {
	name, _, _ := strings.Cut(path.Base(p.path), ".")
	return name == path.Base(path.Dir(p.path))
}

// beside is what a place is worth beside the best one of its file. Places that
// only the path speaks for come last.
func (p place) beside(best place) float64 {
	if best.score == 0 {
		return 1
	}
	return max(p.score/best.score, 0.01)
}

// bare reports whether a place of a program defines nothing.
func (p place) bare() bool {
	return p.symbols == "" || p.start == 1 && p.symbols == path.Base(path.Dir(p.path))
}

// pick takes limit places: of each file the best one first, further ones of a
// good file before the best of a poor one. They stay in the order of files and
// lines.
func pick(files [][]place, limit int) (out []place) {
	taken := make([]int, len(files))
	for range limit {
		best, most := -1, 0.0
		for i, ps := range files {
			if k := taken[i]; k < len(ps) {
				if value := total(ps) * math.Pow(again, float64(k)) * ps[k].beside(ps[0]); value > most {
					best, most = i, value
				}
			}
		}
		if best < 0 {
			break
		}
		taken[best]++
	}
	for i, ps := range files {
		out = append(out, ps[:taken[i]]...)
	}
	return out
}
