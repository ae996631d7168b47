package index

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/unifiedtoolprotocol/utp/search"
)

// batch is how many files are written in one transaction.
const batch = 500

// settle is how old a change must be before its time can be trusted: within
// it, a file may change once more and keep its time and size.
const settle = 100 * time.Millisecond

// drift is the share of removed chunks, one in so many, at which the index is
// made anew: FTS5 goes on counting removed rows of a contentless table, which
// makes every word look rarer than it is.
const drift = 10

// known is a file as the index has it.
type known struct {
	id, size, mtime int64
}

// refresh brings the index up to date with the files.
func (x *Index) refresh(ctx context.Context) error {
	if err := x.update(ctx); err != nil {
		return err
	}
	x.fresh = time.Now()
	return nil
}

func (x *Index) update(ctx context.Context) error {
	files, err := search.List(ctx, x.root, search.Options{})
	if err != nil {
		return err
	}
	sum := listing(files)
	writes, same, err := x.unchanged(ctx, sum)
	if err != nil || same {
		return err
	}
	have, err := x.known(ctx)
	if err != nil {
		return err
	}
	var changed []search.File
	for _, f := range files {
		if k, ok := have[f.Path]; !ok || k.size != f.Size || k.mtime != f.ModTime.UnixNano() {
			changed = append(changed, f)
		}
		delete(have, f.Path)
	}
	if len(changed)+len(have) == 0 {
		return x.remember(ctx, sum, writes)
	}
	if err := x.forget(ctx, have); err != nil {
		return err
	}
	done := 0
	for part := range slices.Chunk(changed, batch) {
		x.tell(ctx, &done, len(part), len(changed))
		if err := x.write(ctx, func(tx *sql.Tx) error { return x.put(ctx, tx, part) }); err != nil {
			return err
		}
	}
	if worn, err := x.worn(ctx); err != nil || !worn {
		return err
	}
	return x.rebuild(ctx, files)
}

// listing is a sum of all that tells whether a file has changed.
func listing(files []search.File) []byte {
	h := sha256.New()
	var line []byte
	for _, f := range files {
		line = append(append(line[:0], f.Path...), 0)
		line = binary.LittleEndian.AppendUint64(line, uint64(f.Size))
		line = binary.LittleEndian.AppendUint64(line, uint64(f.ModTime.UnixNano()))
		h.Write(line)
	}
	return h.Sum(nil)
}

// unchanged reports whether the index knows just the files of a listing, and how
// often it was written to.
func (x *Index) unchanged(ctx context.Context, sum []byte) (writes int64, same bool, err error) {
	var have []byte
	err = x.db.QueryRowContext(ctx, "SELECT writes, listing FROM state").Scan(&writes, &have)
	return writes, bytes.Equal(have, sum), err
}

// remember keeps the sum of a listing that the index agrees with, unless another
// process has written to it since.
func (x *Index) remember(ctx context.Context, sum []byte, writes int64) error {
	_, err := x.db.ExecContext(ctx, "UPDATE state SET listing = ? WHERE writes = ?", sum, writes)
	return err
}

// tell says how far an update is before its next part.
func (x *Index) tell(ctx context.Context, done *int, part, of int) {
	if x.Progress != nil {
		x.Progress(ctx, *done, of)
	}
	*done += part
}

// worn reports whether too many chunks were removed.
func (x *Index) worn(ctx context.Context) (bool, error) {
	var made, have int
	err := x.db.QueryRowContext(ctx, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0), (SELECT count(*) FROM chunks)").Scan(&made, &have)
	return (made-have)*drift > have, err
}

// rebuild fills an empty index. Other processes see the old one until the end.
func (x *Index) rebuild(ctx context.Context, files []search.File) error {
	return x.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM files; DELETE FROM chunks; DELETE FROM sqlite_sequence;
			INSERT INTO words(words) VALUES('delete-all')`); err != nil {
			return err
		}
		done := 0
		for part := range slices.Chunk(files, batch) {
			x.tell(ctx, &done, len(part), len(files))
			if err := x.put(ctx, tx, part); err != nil {
				return err
			}
		}
		return nil
	})
}

func (x *Index) known(ctx context.Context) (map[string]known, error) {
	rows, err := x.db.QueryContext(ctx, "SELECT path, id, size, mtime FROM files")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]known{}
	for rows.Next() {
		var path string
		var k known
		if err := rows.Scan(&path, &k.id, &k.size, &k.mtime); err != nil {
			return nil, err
		}
		out[path] = k
	}
	return out, rows.Err()
}

// forget removes files that are gone.
func (x *Index) forget(ctx context.Context, gone map[string]known) error {
	if len(gone) == 0 {
		return nil
	}
	return x.write(ctx, func(tx *sql.Tx) error {
		for _, k := range gone {
			if err := drop(ctx, tx, k.id); err != nil {
				return err
			}
		}
		return nil
	})
}

func drop(ctx context.Context, tx *sql.Tx, file int64) error {
	for _, q := range []string{
		"DELETE FROM words WHERE rowid IN (SELECT id FROM chunks WHERE file = ?)",
		"DELETE FROM chunks WHERE file = ?",
		"DELETE FROM files WHERE id = ?",
	} {
		if _, err := tx.ExecContext(ctx, q, file); err != nil {
			return err
		}
	}
	return nil
}

// entry is a file ready to be written.
type entry struct {
	search.File
	chunks []search.Chunk
	bodies []string // of each chunk, split into words
}

func (x *Index) put(ctx context.Context, tx *sql.Tx, files []search.File) error {
	entries, err := x.read(ctx, files)
	if err != nil {
		return err
	}
	w, err := newWriter(ctx, tx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.put(ctx, e); err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	return nil
}

// read cuts and splits files in parallel. One that is no text, or gone by now,
// has no chunks.
func (x *Index) read(ctx context.Context, files []search.File) ([]entry, error) {
	entries := make([]entry, len(files))
	now := time.Now()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		g.Go(func() error {
			entries[i] = entry{File: f}
			if f.ModTime.After(now.Add(-settle)) && !f.ModTime.After(now) { // one from the future never settles
				entries[i].ModTime = time.Unix(0, -1)
			}
			if src, err := search.Read(x.root, f.Path, search.DefaultMaxSize); err == nil {
				entries[i].cut(src)
			}
			return ctx.Err()
		})
	}
	return entries, g.Wait()
}

func (e *entry) cut(src []byte) {
	lines := strings.SplitAfter(string(src), "\n")
	e.chunks = search.Chunks(e.Path, src)
	for _, c := range e.chunks {
		e.bodies = append(e.bodies, split(strings.Join(lines[c.Start-1:c.End], "")))
	}
}

// writer holds the statements of a transaction, which closes them.
type writer struct {
	tx                 *sql.Tx
	find               *sql.Stmt
	file, chunk, words *sql.Stmt
}

func newWriter(ctx context.Context, tx *sql.Tx) (*writer, error) {
	w := &writer{tx: tx}
	for _, s := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&w.find, "SELECT id, size, mtime FROM files WHERE path = ?"},
		{&w.file, "INSERT INTO files(path, dir, size, mtime) VALUES(?, ?, ?, ?)"},
		{&w.chunk, `INSERT INTO chunks(file, start, "end", line, symbols) VALUES(?, ?, ?, ?, ?)`},
		{&w.words, "INSERT INTO words(rowid, path, sym, body) VALUES(?, ?, ?, ?)"},
	} {
		var err error
		if *s.stmt, err = tx.PrepareContext(ctx, s.text); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *writer) put(ctx context.Context, e entry) error {
	var k known
	err := w.find.QueryRowContext(ctx, e.Path).Scan(&k.id, &k.size, &k.mtime)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	case k.mtime >= 0 && k.mtime == e.ModTime.UnixNano() && k.size == e.Size:
		return nil // another process was faster
	default:
		if err := drop(ctx, w.tx, k.id); err != nil {
			return err
		}
	}
	r, err := w.file.ExecContext(ctx, e.Path, dirOf(e.Path), e.Size, e.ModTime.UnixNano())
	if err != nil {
		return err
	}
	file, err := r.LastInsertId()
	if err != nil {
		return err
	}
	for i, c := range e.chunks {
		if err := w.putChunk(ctx, file, c, e.bodies[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) putChunk(ctx context.Context, file int64, c search.Chunk, body string) error {
	symbols := strings.Join(c.Symbols, " ")
	r, err := w.chunk.ExecContext(ctx, file, c.Start, c.End, c.Line, symbols)
	if err != nil {
		return err
	}
	id, err := r.LastInsertId()
	if err != nil {
		return err
	}
	_, err = w.words.ExecContext(ctx, id, split(c.Path), split(symbols), body)
	return err
}

func dirOf(file string) string {
	if d := path.Dir(file); d != "." {
		return d + "/"
	}
	return "./"
}
