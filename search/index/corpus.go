package index

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/search"
)

// BM25's constants. Source: Robertson and Zaragoza, The Probabilistic Relevance
// Framework, 2009.
const (
	saturation = 1.2  // k1
	byLength   = 0.75 // b
	leastIDF   = 1e-6 // of a word that more than half of the chunks have
)

// corpus is what the index knows of all chunks, as of one transaction.
type corpus struct {
	ctx     context.Context
	tx      *sql.Tx
	find    *sql.Stmt
	runs    []run
	lengths []uint16     // by chunk, at most maxLength; 0: there is none
	all     int          // chunks that there are
	average float64      // length
	met     []uint64     // bits of the chunks that any look found
	found   []occurrence // by the last look
}

const maxLength = math.MaxUint16

// run is chunks of one directory.
type run struct {
	dir        string
	first, end int
}

// occurrence is a chunk that has a word.
type occurrence struct {
	chunk int
	uses  uses
}

// errBlob says that a blob is not as part.write makes them.
var errBlob = errors.New("a blob of the index is broken")

// load reads what looks for words need. The corpus ends with the transaction.
func load(ctx context.Context, tx *sql.Tx) (*corpus, error) {
	c := &corpus{ctx: ctx, tx: tx}
	var made int
	if err := tx.QueryRowContext(ctx, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0)").Scan(&made); err != nil {
		return nil, err
	}
	c.lengths, c.met = make([]uint16, made+1), make([]uint64, made/64+1)
	if err := c.loadParts(); err != nil {
		return nil, err
	}
	if err := c.loadGone(); err != nil {
		return nil, err
	}
	sum := 0
	for _, n := range c.lengths {
		if n > 0 {
			c.all++
			sum += int(n)
		}
	}
	c.average = float64(sum) / float64(max(c.all, 1))
	var err error
	c.find, err = tx.PrepareContext(ctx, "SELECT first, places FROM words WHERE word = ? ORDER BY first")
	return c, err
}

func (c *corpus) loadParts() error {
	rows, err := c.tx.QueryContext(c.ctx, "SELECT first, lengths, dirs FROM parts ORDER BY first")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var first int
		var lengths, dirs sql.RawBytes
		if err := rows.Scan(&first, &lengths, &dirs); err != nil {
			return err
		}
		at, b := first, blob{rest: lengths}
		for ; b.more(); at++ {
			n := b.number()
			if at < 1 || at >= len(c.lengths) {
				return errBlob
			}
			c.lengths[at] = uint16(min(max(n, 1), maxLength))
		}
		d := blob{rest: dirs}
		for d.more() {
			n := d.number()
			c.runs = append(c.runs, run{first: first, end: first + n, dir: d.text()})
			first += n
		}
		if b.broken || d.broken || first != at {
			return errBlob
		}
	}
	return rows.Err()
}

func (c *corpus) loadGone() error {
	rows, err := c.tx.QueryContext(c.ctx, "SELECT first, last FROM gone")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var first, last int
		if err := rows.Scan(&first, &last); err != nil {
			return err
		}
		if first < 1 || last >= len(c.lengths) {
			return errBlob
		}
		clear(c.lengths[first : last+1])
	}
	return rows.Err()
}

// look finds the chunks that have a word, or one of the same stem.
func (c *corpus) look(word string) error {
	c.found = c.found[:0]
	rows, err := c.find.QueryContext(c.ctx, stem(word))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var first int
		var places sql.RawBytes
		if err := rows.Scan(&first, &places); err != nil {
			return err
		}
		at, b := first-1, blob{rest: places}
		for b.more() {
			at += b.number()
			n := b.number()
			u := uses{text: int32(n / 4), symbols: int32(n % 4)}
			if u.symbols == manySymbols {
				u.symbols = int32(b.number())
			}
			if b.broken || at < 1 || at >= len(c.lengths) {
				return errBlob
			}
			if c.lengths[at] > 0 {
				c.found = append(c.found, occurrence{at, u})
				c.met[at/64] |= 1 << (at % 64)
			}
		}
	}
	return rows.Err()
}

// bm25 gives what the last look found with its score. Words of symbols count
// symWeight times; those of a path nothing.
func (c *corpus) bm25(yield func(chunk int, score float64)) {
	n, all := float64(len(c.found)), float64(c.all)
	idf := max(math.Log((all-n+0.5)/(n+0.5)), leastIDF)
	for _, f := range c.found {
		often := symWeight*float64(f.uses.symbols) + float64(f.uses.text)
		length := float64(c.lengths[f.chunk]) / c.average
		yield(f.chunk, idf*often*(saturation+1)/(often+saturation*(1-byLength+byLength*length)))
	}
}

// having gives the files of the chunks that have all of some words, by path.
func (c *corpus) having(names []string) (files []search.File, err error) {
	have := map[int]int{} // by chunk, how many of the words
	for i, name := range names {
		if err := c.look(name); err != nil {
			return nil, err
		}
		for _, f := range c.found {
			if have[f.chunk] == i {
				have[f.chunk]++
			}
		}
	}
	q, err := c.tx.PrepareContext(c.ctx, "SELECT path, last FROM files WHERE id = (SELECT file FROM chunks WHERE id = ?)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	last := 0
	for _, f := range c.found {
		if f.chunk <= last || have[f.chunk] < len(names) {
			continue
		}
		var file search.File
		if err := q.QueryRowContext(c.ctx, f.chunk).Scan(&file.Path, &last); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	slices.SortFunc(files, func(a, b search.File) int { return strings.Compare(a.Path, b.Path) })
	return files, nil
}

// totals counts the chunks that any look found by their directories.
func (c *corpus) totals() []Total {
	count := map[string]int{}
	for _, r := range c.runs {
		for at := r.first; at < r.end; at++ {
			if c.met[at/64]>>(at%64)&1 == 1 {
				count[r.dir]++
			}
		}
	}
	out := make([]Total, 0, len(count))
	for dir, n := range count {
		out = append(out, Total{dir, n})
	}
	slices.SortFunc(out, func(a, b Total) int { return cmp.Or(b.N-a.N, strings.Compare(a.Dir, b.Dir)) })
	return out
}

// blob is read number by number.
type blob struct {
	rest   []byte
	broken bool
}

func (b *blob) more() bool { return len(b.rest) > 0 && !b.broken }

func (b *blob) number() int {
	if len(b.rest) > 0 && b.rest[0] < 0x80 {
		n := int(b.rest[0])
		b.rest = b.rest[1:]
		return n
	}
	n, size := binary.Uvarint(b.rest)
	if size <= 0 || n > math.MaxInt32 {
		b.broken = true
		return 0
	}
	b.rest = b.rest[size:]
	return int(n)
}

func (b *blob) text() string {
	n := b.number()
	if n > len(b.rest) {
		b.broken = true
		return ""
	}
	s := string(b.rest[:n])
	b.rest = b.rest[n:]
	return s
}
