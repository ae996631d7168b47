package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Info describes a session.
type Info struct {
	ID      string    `json:"id"`
	Root    string    `json:"root"` // the directory it is about
	Model   string    `json:"model"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	Count   int       `json:"messages"` // questions and replies
	Size    int       `json:"bytes"`
	First   string    `json:"first"`            // the first question
	Broken  bool      `json:"broken,omitempty"` // its last turn has no answer
}

// Session is one conversation.
type Session struct {
	Info // as it was when the session was loaded
	db   *DB
}

// Create begins a session and makes it the current one of its root.
func (db *DB) Create(ctx context.Context, root, model string) (*Session, error) {
	now := db.now()
	s := &Session{Info{Root: root, Model: model, Created: now, Updated: now}, db}
	err := db.change(ctx, func(tx *sql.Tx) (err error) {
		if s.ID, err = db.freeID(ctx, tx); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO sessions (id, root, model, created, updated) VALUES (?, ?, ?, ?, ?)`,
			s.ID, root, model, now.UnixMilli(), now.UnixMilli())
		if err != nil {
			return err
		}
		return use(ctx, tx, root, s.ID)
	})
	if err != nil {
		return nil, db.fail("creating a session", err)
	}
	return s, nil
}

// freeID asks for ids until one is new.
func (db *DB) freeID(ctx context.Context, tx *sql.Tx) (string, error) {
	const tries = 10
	for range tries {
		id := db.newID()
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sessions WHERE id = ?`, id).Scan(&n); err != nil {
			return "", err
		}
		if id != "" && n == 0 {
			return id, nil
		}
	}
	return "", fmt.Errorf("no free id in %d tries: the source of ids repeats itself", tries)
}

func use(ctx context.Context, tx *sql.Tx, root, id string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO current (root, session) VALUES (?, ?)
		ON CONFLICT (root) DO UPDATE SET session = excluded.session`, root, id)
	return err
}

// Use makes a session the current one of its root.
func (db *DB) Use(ctx context.Context, s *Session) error {
	return db.fail("choosing session "+s.ID, db.change(ctx, func(tx *sql.Tx) error { return use(ctx, tx, s.Root, s.ID) }))
}

// Current is the session last created or used for a root. stale reports that
// nothing was added to it for longer than maxAge; 0 is never stale. Without a
// session the error is ErrNotFound.
func (db *DB) Current(ctx context.Context, root string, maxAge time.Duration) (s *Session, stale bool, err error) {
	s, err = db.one(ctx, `WHERE s.id = (SELECT session FROM current WHERE root = ?)`, root)
	if err != nil {
		return nil, false, db.fail("finding the current session", err)
	}
	return s, maxAge > 0 && db.now().Sub(s.Updated) > maxAge, nil
}

// Get finds a session by its id or the beginning of it: ErrNotFound,
// ErrAmbiguous.
func (db *DB) Get(ctx context.Context, id string) (*Session, error) {
	id = strings.ToLower(id)
	op := fmt.Sprintf("finding session %q", id)
	if id == "" {
		return nil, db.fail(op, ErrNotFound)
	}
	found, err := db.many(ctx, `WHERE substr(s.id, 1, length(?1)) = ?1 ORDER BY s.id = ?1 DESC, s.updated DESC LIMIT 6`, id)
	switch {
	case err != nil:
		return nil, db.fail(op, err)
	case len(found) == 0:
		return nil, db.fail(op, ErrNotFound)
	case len(found) == 1 || found[0].ID == id:
		return found[0], nil
	}
	var ids []string
	for _, s := range found {
		ids = append(ids, s.ID)
	}
	return nil, db.fail(op, fmt.Errorf("%w: %s", ErrAmbiguous, strings.Join(ids, ", ")))
}

// List gives the sessions of a root that were changed last, newest first, at
// most n. An empty root means all.
func (db *DB) List(ctx context.Context, root string, n int) ([]Info, error) {
	found, err := db.many(ctx, `WHERE ?1 = '' OR s.root = ?1 ORDER BY s.updated DESC, s.id LIMIT ?2`, root, n)
	if err != nil {
		return nil, db.fail("listing sessions", err)
	}
	out := make([]Info, len(found))
	for i, s := range found {
		out[i] = s.Info
	}
	return out, nil
}

func (db *DB) one(ctx context.Context, where string, args ...any) (*Session, error) {
	found, err := db.many(ctx, where, args...)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// many reads sessions; where is the end of the query.
func (db *DB) many(ctx context.Context, where string, args ...any) ([]*Session, error) {
	rows, err := db.sql.QueryContext(ctx, `SELECT s.id, s.root, s.model, s.created, s.updated,
		(SELECT count(*) FROM entries e WHERE e.session = s.id AND e.kind IN ('question', 'reply', 'message')),
		(SELECT coalesce(sum(length(body)), 0) FROM entries e WHERE e.session = s.id),
		(SELECT body FROM entries e WHERE e.session = s.id AND e.kind = 'question' ORDER BY n LIMIT 1),
		(SELECT e.kind <> 'message' AND (e.kind <> 'end' OR e.body NOT LIKE '%"reason":"answered"%')
			FROM entries e WHERE e.session = s.id ORDER BY n DESC LIMIT 1)
		FROM sessions s `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []*Session
	for rows.Next() {
		s, err := db.scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

func (db *DB) scan(rows *sql.Rows) (*Session, error) {
	var created, updated int64
	var first sql.NullString
	var broken sql.NullBool
	s := &Session{db: db}
	if err := rows.Scan(&s.ID, &s.Root, &s.Model, &created, &updated, &s.Count, &s.Size, &first, &broken); err != nil {
		return nil, err
	}
	s.Broken = broken.Bool
	s.Created, s.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	if first.Valid {
		e, err := decode(first.String)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("session %s: the first question", s.ID), err)
		}
		s.First = textOf(e)
	}
	return s, nil
}
