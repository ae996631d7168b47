package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What errors.Is finds in an Error.
var (
	ErrNotFound  = errors.New("there is no such session")
	ErrAmbiguous = errors.New("several sessions begin like that")
	ErrDamaged   = errors.New("the file is damaged or is not a session database")
	ErrNewer     = errors.New("the file was written by a newer version")
)

// Error says which file and operation failed, and what to do.
type Error struct {
	Path string // of the database
	Op   string // what was being done
	Hint string // what to do; may be empty
	Err  error
}

// Error is one line.
func (e *Error) Error() string {
	text := fmt.Sprintf("store: %s: %s: %v", e.Path, e.Op, e.Err)
	if e.Hint != "" {
		text += ". " + e.Hint
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func (db *DB) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	var already *Error
	if errors.As(err, &already) {
		return err
	}
	e := &Error{Path: db.path, Op: op, Err: err}
	var sq *sqlite.Error
	if !errors.As(err, &sq) {
		return e
	}
	const primary = 0xff // extended result codes keep the kind in the low byte
	switch sq.Code() & primary {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		e.Err = fmt.Errorf("%w: %w", ErrDamaged, err)
		e.Hint = "Rename or delete it to start afresh; the old sessions are then gone"
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		e.Hint = "Check that the directory exists and that you may write there"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		e.Hint = "Another process holds it; try again"
	case sqlite3.SQLITE_FULL:
		e.Hint = "The disk is full"
	}
	return e
}
