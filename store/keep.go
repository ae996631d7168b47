package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/transcript"
)

// Delete removes a session. What it held is overwritten in the file.
func (db *DB) Delete(ctx context.Context, s *Session) error {
	op := "removing session " + s.ID
	err := db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, s.ID)
		return err
	})
	if err == nil {
		_, err = db.sql.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	return db.fail(op, err)
}

// Fork copies a session up to its entry n, all of it with 0, into a new one of
// the same root.
func (db *DB) Fork(ctx context.Context, s *Session, n int) (*Session, error) {
	log, err := s.Entries(ctx)
	if err != nil {
		return nil, err
	}
	if n > 0 && n < len(log) {
		log = log[:n]
	}
	fork, err := db.Create(ctx, s.Root, s.Model)
	if err != nil {
		return nil, err
	}
	if err := fork.Append(ctx, log...); err != nil {
		return nil, err
	}
	return db.Get(ctx, fork.ID)
}

// Hit is a session in which something was found.
type Hit struct {
	Info
	N    int             `json:"n"` // the first entry that has it
	Kind transcript.Kind `json:"kind"`
	Text string          `json:"text"` // of that entry
}

// Search finds the sessions whose questions, replies or results have a text,
// in upper or lower case, newest first, at most n. An empty root means all.
func (db *DB) Search(ctx context.Context, root, text string, n int) ([]Hit, error) {
	op := fmt.Sprintf("searching for %q", text)
	like, escaped, err := patterns(text)
	if err != nil {
		return nil, db.fail(op, err)
	}
	found, err := db.many(ctx, `WHERE (?1 = '' OR s.root = ?1) AND EXISTS
		(SELECT 1 FROM entries e WHERE e.session = s.id AND `+searched+` AND (e.body LIKE ?2 ESCAPE '\' OR e.body LIKE ?3 ESCAPE '\'))
		ORDER BY s.updated DESC, s.id LIMIT ?4`, root, like, escaped, n)
	if err != nil {
		return nil, db.fail(op, err)
	}
	hits := make([]Hit, len(found))
	for i, s := range found {
		hits[i].Info = s.Info
		var body string
		row := db.sql.QueryRowContext(ctx, `SELECT n, kind, body FROM entries e WHERE session = ? AND `+searched+`
			AND (body LIKE ? ESCAPE '\' OR body LIKE ? ESCAPE '\') ORDER BY n LIMIT 1`, s.ID, like, escaped)
		if err := row.Scan(&hits[i].N, &hits[i].Kind, &body); err != nil {
			return nil, db.fail(op, err)
		}
		e, err := decode(body)
		if err != nil {
			return nil, db.fail(op, err)
		}
		hits[i].Text = textOf(e)
	}
	return hits, nil
}

// patterns are those that a text matches inside JSON, which may escape <, > and &.
func patterns(text string) (like, escaped string, err error) {
	quoted, err := json.Marshal(text)
	inside := string(quoted[1 : len(quoted)-1])
	plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(inside)
	literal := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
	return "%" + literal.Replace(plain) + "%", "%" + literal.Replace(inside) + "%", err
}

const searched = `e.kind IN ('question', 'reply', 'message', 'text', 'result')`

func textOf(e transcript.Entry) string {
	switch {
	case e.Message != nil:
		text := e.Message.Text()
		for _, r := range e.Message.Results() {
			text += r.Text()
		}
		for _, c := range e.Message.Calls() {
			text += " " + c.Name + " " + string(c.Args)
		}
		return text
	case e.Result != nil:
		return e.Result.Text()
	}
	return e.Text
}

// Prune removes sessions to which nothing was added for longer than maxAge, and
// then the oldest until the rest takes no more than maxBytes. It reports how many.
func (db *DB) Prune(ctx context.Context, maxAge time.Duration, maxBytes int64) (removed int, err error) {
	err = db.change(ctx, func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE updated < ?`, db.now().Add(-maxAge).UnixMilli())
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		for removed = int(n); err == nil; removed++ {
			var used, left int64
			err = tx.QueryRowContext(ctx, `SELECT (page_count - freelist_count) * page_size, (SELECT count(*) FROM sessions)
				FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&used, &left)
			if err != nil || used <= maxBytes || left <= 1 {
				break
			}
			_, err = tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = (SELECT id FROM sessions ORDER BY updated, id LIMIT 1)`)
		}
		return err
	})
	return removed, db.fail("removing old sessions", err)
}

// Busy is a session whose question another process is answering.
type Busy struct {
	PID   int
	Since time.Time
}

func (b *Busy) Error() string {
	return fmt.Sprintf("process %d has been answering a question of it since %s", b.PID, b.Since.Local().Format("15:04:05"))
}

// Take reserves a session for this process until Free. Where another has it and
// is alive, the error is a *Busy.
func (s *Session) Take(ctx context.Context, pid int, alive func(pid int) bool) error {
	return s.db.fail("taking session "+s.ID, s.db.change(ctx, func(tx *sql.Tx) error {
		var holder int
		var since int64
		err := tx.QueryRowContext(ctx, `SELECT pid, since FROM workers WHERE session = ?`, s.ID).Scan(&holder, &since)
		if err == nil && holder != pid && alive(holder) {
			return &Busy{holder, time.UnixMilli(since)}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO workers (session, pid, since) VALUES (?, ?, ?)
			ON CONFLICT (session) DO UPDATE SET pid = excluded.pid, since = excluded.since`, s.ID, pid, s.db.now().UnixMilli())
		return err
	}))
}

// Free gives a session back.
func (s *Session) Free(ctx context.Context, pid int) error {
	return s.db.fail("freeing session "+s.ID, s.db.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM workers WHERE session = ? AND pid = ?`, s.ID, pid)
		return err
	}))
}
