package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search"
)

// What a file's score is made of. Source: measured on 75 questions about four
// repositories.
const (
	candidates = 500 // chunks looked at
	summed     = 5   // best chunks of a file that count: whole, half, a quarter …
	testWeight = 0.5
	docWeight  = 0.6
	bareWeight = 0.6 // code that defines nothing, such as a list of imports
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

// Query brings the index up to date and gives the limit best places for a
// question, of different files as far as there are, in the order of their
// files. The totals count every place, those given included, by directory.
func (x *Index) Query(ctx context.Context, question string, limit int) ([]Hit, []Total, error) {
	terms := Terms(question)
	if len(terms) == 0 {
		return nil, nil, ErrNoWords
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var found []place
	var totals []Total
	err := x.again(ctx, func(ctx context.Context) error {
		if err := x.refresh(ctx); err != nil {
			return err
		}
		return x.snapshot(ctx, func(tx *sql.Tx) (err error) {
			if found, err = places(ctx, tx, terms); err == nil {
				totals, err = counts(ctx, tx, terms)
			}
			return err
		})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("index: query: %w", err)
	}
	return x.hits(pick(rank(found, question), limit), terms), totals, nil
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
	path             string
	start, end, line int
	symbols          string
	score            float64
}

func places(ctx context.Context, tx *sql.Tx, terms []string) ([]place, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT f.path, c.start, c."end", c.line, c.symbols, -w.score
		FROM (SELECT rowid AS id, bm25(words, 3.0, 2.0, 1.0) AS score FROM words WHERE words MATCH ? ORDER BY score LIMIT ?) w
		JOIN chunks c ON c.id = w.id JOIN files f ON f.id = c.file`, match(terms), candidates)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []place
	for rows.Next() {
		var p place
		if err := rows.Scan(&p.path, &p.start, &p.end, &p.line, &p.symbols, &p.score); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

func counts(ctx context.Context, tx *sql.Tx, terms []string) ([]Total, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT f.dir, count(*) FROM words JOIN chunks c ON c.id = words.rowid JOIN files f ON f.id = c.file
		WHERE words MATCH ? GROUP BY f.dir ORDER BY 2 DESC, 1`, match(terms))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Total
	for rows.Next() {
		var t Total
		if err := rows.Scan(&t.Dir, &t.N); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, rows.Err()
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
		share /= 2
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
	case code && p.symbols == "":
		w *= bareWeight
	case !code && !docs:
		w *= docWeight
	}
	return w
}

// pick takes the best place of each file, then the second best, until there
// are limit, and leaves them in the order of files and lines.
func pick(files [][]place, limit int) (out []place) {
	taken := make([]int, len(files))
	n := 0
	for round, more := 0, true; more && n < limit; round++ {
		more = false
		for i, ps := range files {
			if round < len(ps) && n < limit {
				taken[i], more = round+1, true
				n++
			}
		}
	}
	for i, ps := range files {
		out = append(out, ps[:taken[i]]...)
	}
	return out
}
