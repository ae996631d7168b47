package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

//go:embed schema.sql
var tables string

// migrate makes a file of version 1 one of version 2.
//
//go:embed migrate.sql
var migrate string

// version of schema.sql, kept in the file's user_version.
const version = 2

// Config says where sessions are kept and who names and dates them.
type Config struct {
	Path  string           // of the database file; made with its directory when missing, for the user alone
	NewID func() string    // 8 hex digits, different each time
	Now   func() time.Time // the clock
}

// DB is an open file of sessions. It may be used by several goroutines.
type DB struct {
	path  string
	newID func() string
	now   func() time.Time
	sql   *sql.DB
}

// Open opens the file, or makes it.
func Open(ctx context.Context, c Config) (*DB, error) {
	db := &DB{path: c.Path, newID: c.NewID, now: c.Now}
	if c.NewID == nil || c.Now == nil {
		return nil, db.fail("opening", errors.New("Config.NewID and Config.Now must be set"))
	}
	if err := makeFile(c.Path); err != nil {
		return nil, db.fail("opening", err)
	}
	name, err := address(c.Path)
	if err != nil {
		return nil, db.fail("opening", err)
	}
	if db.sql, err = sql.Open("sqlite", name); err != nil {
		return nil, db.fail("opening", err)
	}
	if err := db.prepare(ctx); err != nil {
		db.sql.Close()
		return nil, db.fail("opening", err)
	}
	return db, nil
}

// makeFile makes an empty file that only the user may read: SQLite gives its
// side files the same mode.
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// address is the driver's name for a file, whatever its path holds.
func address(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs
	}
	u := url.URL{Scheme: "file", Path: abs}
	return u.String() + "?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_pragma=secure_delete(1)", nil
}

// prepare makes the tables of a new file and brings an old one up to date.
func (db *DB) prepare(ctx context.Context) error {
	found, err := versionOf(ctx, db.sql)
	switch {
	case err != nil || found == version:
		return err
	case found > version:
		return &Error{db.path, "opening", "Update this program, or use another file",
			fmt.Errorf("%w: %d, where %d is known", ErrNewer, found, version)}
	}
	return db.change(ctx, func(tx *sql.Tx) error {
		found, err := versionOf(ctx, tx) // another process may have been here
		if err != nil || found == version {
			return err
		}
		script := tables
		if found == 1 {
			script += "\n" + migrate
		}
		_, err = tx.ExecContext(ctx, script+fmt.Sprintf("\nPRAGMA user_version = %d;", version))
		return err
	})
}

func versionOf(ctx context.Context, in interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (v int, err error) {
	err = in.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
	return v, err
}

// change runs f in a transaction.
func (db *DB) change(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := db.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// Close closes the file.
func (db *DB) Close() error { return db.fail("closing", db.sql.Close()) }
