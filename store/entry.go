package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// Entries lists the session's log, oldest first.
func (s *Session) Entries(ctx context.Context) ([]transcript.Entry, error) {
	es, err := s.read(ctx, 0)
	return es, s.db.fail("reading session "+s.ID, err)
}

func (s *Session) read(ctx context.Context, from int) ([]transcript.Entry, error) {
	rows, err := s.db.sql.QueryContext(ctx, `SELECT n, body FROM entries WHERE session = ? AND n >= ? ORDER BY n`, s.ID, from)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []transcript.Entry
	for rows.Next() {
		var n int
		var body string
		if err := rows.Scan(&n, &body); err != nil {
			return nil, err
		}
		e, err := decode(body)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", n, err)
		}
		e.N = n
		out = append(out, e)
	}
	return out, rows.Err()
}

func decode(body string) (e transcript.Entry, err error) {
	if err = json.Unmarshal([]byte(body), &e); err != nil {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return e, err
}

func encode(e transcript.Entry) (string, error) {
	e.N = 0
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return string(bytes.TrimSpace(b.Bytes())), err
}

// Append adds entries at the end, all or none, and numbers them.
func (s *Session) Append(ctx context.Context, es ...transcript.Entry) error {
	return s.db.fail("writing session "+s.ID, s.db.change(ctx, func(tx *sql.Tx) error {
		return s.insert(ctx, tx, es)
	}))
}

func (s *Session) insert(ctx context.Context, tx *sql.Tx, es []transcript.Entry) error {
	var last int
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(n), 0) FROM entries WHERE session = ?`, s.ID).Scan(&last); err != nil {
		return err
	}
	for i, e := range es {
		body, err := encode(e)
		if err != nil {
			return fmt.Errorf("entry %d: %w", last+i+1, err)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO entries (session, n, kind, body) VALUES (?, ?, ?, ?)`, s.ID, last+i+1, string(e.Kind), body)
		if err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `UPDATE sessions SET updated = ? WHERE id = ?`, s.db.now().UnixMilli(), s.ID)
	return err
}

// Exchange is the last question of a session and what came of it.
type Exchange struct {
	Question string
	Answer   string        // the last text of the model, marked where it was cut off
	Messages []utp.Message // from the question on
}

// Last gives the last exchange, ErrNotFound when nothing was asked yet.
func (s *Session) Last(ctx context.Context) (Exchange, error) {
	op := "recalling session " + s.ID
	var from sql.NullInt64
	err := s.db.sql.QueryRowContext(ctx, `SELECT max(n) FROM entries WHERE session = ? AND kind = ?`, s.ID, string(transcript.Question)).Scan(&from)
	if err != nil {
		return Exchange{}, s.db.fail(op, err)
	}
	if !from.Valid {
		return Exchange{}, s.db.fail(op, fmt.Errorf("%w: nothing was asked in it yet", ErrNotFound))
	}
	log, err := s.read(ctx, int(from.Int64))
	if err != nil {
		return Exchange{}, s.db.fail(op, err)
	}
	ms := transcript.Messages(log)
	x := Exchange{Messages: ms}
	for i, m := range ms {
		switch text := m.Text(); {
		case i == 0:
			x.Question = text
		case m.Role == utp.RoleAssistant && text != "":
			x.Answer = text
		}
	}
	return x, nil
}
