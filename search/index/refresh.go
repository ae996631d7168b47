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

// How many files are read before they are written, and how many are written in one
// transaction, as one part: many parts make the table of words slow to write.
const (
	batch    = 500
	together = 2000
)

// settle is how old a change must be before its time can be trusted: within
// it, a file may change once more and keep its time and size.
const settle = 100 * time.Millisecond

// removable is how many of the chunks that were made may be removed, one in so many: the
// words of the removed stay until the index is made anew.
const removable = 2

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
	for part := range slices.Chunk(changed, together) {
		if err := x.write(ctx, func(tx *sql.Tx) error { return x.put(ctx, tx, part, &done, len(changed)) }); err != nil {
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
	return (made-have)*removable > made, err
}

// rebuild fills an empty index. Other processes see the old one until the end.
func (x *Index) rebuild(ctx context.Context, files []search.File) error {
	return x.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM files; DELETE FROM chunks; DELETE FROM parts; DELETE FROM gone; DELETE FROM words;
			DELETE FROM sqlite_sequence`); err != nil {
			return err
		}
		done := 0
		for part := range slices.Chunk(files, together) {
			if err := x.put(ctx, tx, part, &done, len(files)); err != nil {
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
		"INSERT INTO gone SELECT first, last FROM files WHERE id = ? AND last >= first",
		"DELETE FROM chunks WHERE id BETWEEN (SELECT first FROM files WHERE id = ?1) AND (SELECT last FROM files WHERE id = ?1)",
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
	words  []counted // of each chunk
}

// put writes files as one part. It tells how many are done.
func (x *Index) put(ctx context.Context, tx *sql.Tx, files []search.File, done *int, of int) error {
	w, err := newWriter(ctx, tx)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(files, batch) {
		x.tell(ctx, done, len(some), of)
		entries, err := x.read(ctx, some)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := w.put(ctx, e); err != nil {
				return fmt.Errorf("%s: %w", e.Path, err)
			}
		}
	}
	return w.part.write(ctx, tx)
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
	words := newCounter()
	for _, c := range e.chunks {
		e.words = append(e.words, words.count(c.Path, strings.Join(c.Symbols, " "), strings.Join(lines[c.Start-1:c.End], "")))
	}
}

// writer holds what a transaction writes with, which closes the statements.
type writer struct {
	tx                      *sql.Tx
	find, file, chunk, ends *sql.Stmt
	part                    part
}

func newWriter(ctx context.Context, tx *sql.Tx) (*writer, error) {
	w := &writer{tx: tx}
	for _, s := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&w.find, "SELECT id, size, mtime FROM files WHERE path = ?"},
		{&w.file, "INSERT INTO files(path, size, mtime, first, last) VALUES(?, ?, ?, 0, -1)"},
		{&w.chunk, `INSERT INTO chunks(file, start, "end", line, symbols) VALUES(?, ?, ?, ?, ?)`},
		{&w.ends, "UPDATE files SET first = ?, last = ? WHERE id = ?"},
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
	r, err := w.file.ExecContext(ctx, e.Path, e.Size, e.ModTime.UnixNano())
	if err != nil {
		return err
	}
	file, err := r.LastInsertId()
	if err != nil {
		return err
	}
	last := int64(-1)
	for i, c := range e.chunks {
		if last, err = w.putChunk(ctx, file, c, e.words[i]); err != nil {
			return err
		}
	}
	_, err = w.ends.ExecContext(ctx, last-int64(len(e.chunks))+1, last, file)
	return err
}

func (w *writer) putChunk(ctx context.Context, file int64, c search.Chunk, words counted) (id int64, err error) {
	r, err := w.chunk.ExecContext(ctx, file, c.Start, c.End, c.Line, strings.Join(c.Symbols, " "))
	if err != nil {
		return 0, err
	}
	if id, err = r.LastInsertId(); err == nil {
		w.part.add(id, dirOf(c.Path), words)
	}
	return id, err
}

func dirOf(file string) string {
	if d := path.Dir(file); d != "." {
		return d + "/"
	}
	return "./"
}
