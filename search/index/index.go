// Package index keeps the words of a repository's files in an SQLite database
// and answers questions with ranked places: definitions and passages, best
// first. The database lies in a cache directory, never in the repository, is
// brought up to date before every question by the sizes and times of the
// files, and may be shared by processes. It holds no text: what is shown is
// read from the files.
//
// The ranking is BM25 over chunks (see search.Chunks) by the stems of words, where
// those of symbols count twice; identifiers count whole and in their parts; tests
// and documents count less unless the question is about them. The best chunks are
// read and weighed by how near their text is to the question (see search/vector); a
// file's score is the decayed sum of its five best chunks.
package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// version changes with schema.sql and part.go, with how chunks are cut and how words are
// split and stemmed. A database of another version is emptied.
const version = 4

//go:embed schema.sql
var schema string

// Index is an open index. It is safe for concurrent use.
type Index struct {
	root *os.Root
	file string // the database

	// Progress is told while many files are read into the index; nil: nobody is.
	Progress func(ctx context.Context, done, of int)

	mu    sync.Mutex
	db    *sql.DB
	fresh time.Time // when the index was last brought up to date
}

// Open opens the index of the directory root, which is made in dir if it is
// not there and made anew if it cannot be read. It is empty until the first
// Query.
func Open(ctx context.Context, root, dir string) (*Index, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("index: root %s: %w", root, err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, fmt.Errorf("index: root: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("index: cache directory: %w", err)
	}
	x := &Index{file: filepath.Join(dir, fileName(abs))}
	if x.root, err = os.OpenRoot(abs); err != nil {
		return nil, fmt.Errorf("index: root: %w", err)
	}
	if err := x.again(ctx, x.connect); err != nil {
		return nil, errors.Join(fmt.Errorf("index: open %s: %w", x.file, err), x.Close())
	}
	return x, nil
}

// fileName is readable and different for every root.
func fileName(root string) string {
	sum := sha256.Sum256([]byte(root))
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '-'
		}
		return r
	}, filepath.Base(root))
	return name + "-" + hex.EncodeToString(sum[:8]) + ".db"
}

// Close releases the database and the root.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return errors.Join(x.disconnect(), x.root.Close())
}

func (x *Index) disconnect() error {
	if x.db == nil {
		return nil
	}
	err := x.db.Close()
	x.db = nil
	return err
}

func (x *Index) connect(ctx context.Context) error {
	if x.db != nil {
		return nil
	}
	name := filepath.ToSlash(x.file)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name
	}
	settings := "_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_txlock=immediate"
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: name, RawQuery: settings}).String())
	if err != nil {
		return err
	}
	x.db = db
	return patient(ctx, func() error { return x.prepare(ctx) })
}

// patient tries again while another process switches the new database to its
// journal: SQLite does not wait for that by itself.
func patient(ctx context.Context, try func() error) error {
	for range 200 {
		err := try()
		if err == nil || !strings.Contains(err.Error(), "SQLITE_BUSY") {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
	return try()
}

// prepare makes the tables unless they are there in this version.
func (x *Index) prepare(ctx context.Context) error {
	if have, err := x.version(ctx, x.db); err != nil || have == version {
		return err
	}
	return x.write(ctx, func(tx *sql.Tx) error {
		if have, err := x.version(ctx, tx); err != nil || have == version {
			return err // another process was faster
		}
		_, err := tx.ExecContext(ctx, "DROP TABLE IF EXISTS words; DROP TABLE IF EXISTS chunks; DROP TABLE IF EXISTS files; DROP TABLE IF EXISTS parts; DROP TABLE IF EXISTS gone; DROP TABLE IF EXISTS state;"+
			schema+fmt.Sprintf("PRAGMA user_version = %d", version))
		return err
	})
}

type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func (x *Index) version(ctx context.Context, q querier) (v int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

func (x *Index) write(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if _, err := tx.ExecContext(ctx, "UPDATE state SET writes = writes + 1, listing = NULL"); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// again calls f, and once more with a new database if the old one is broken.
func (x *Index) again(ctx context.Context, f func(context.Context) error) error {
	err := f(ctx)
	if !broken(err) {
		return err
	}
	if err := errors.Join(x.disconnect(), remove(x.file)); err != nil {
		return err
	}
	if err := x.connect(ctx); err != nil {
		return err
	}
	return f(ctx)
}

func remove(file string) error {
	for _, name := range []string{file, file + "-wal", file + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the broken database: %w", err)
		}
	}
	return nil
}

// broken reports SQLITE_CORRUPT, SQLITE_NOTADB and a blob that nobody wrote.
func broken(err error) bool {
	var e *sqlite.Error
	return errors.Is(err, errBlob) || errors.As(err, &e) && (e.Code()&0xff == 11 || e.Code()&0xff == 26)
}
