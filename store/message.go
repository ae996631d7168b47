package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
)

// Messages lists the session's messages, oldest first.
func (s *Session) Messages(ctx context.Context) ([]utp.Message, error) {
	ms, err := s.read(ctx, 0)
	return ms, s.db.fail("reading session "+s.ID, err)
}

func (s *Session) read(ctx context.Context, from int) ([]utp.Message, error) {
	rows, err := s.db.sql.QueryContext(ctx, `SELECT seq, body FROM messages WHERE session = ? AND seq >= ? ORDER BY seq`, s.ID, from)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []utp.Message
	for rows.Next() {
		var seq int
		var body string
		if err := rows.Scan(&seq, &body); err != nil {
			return nil, err
		}
		m, err := decode(body)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", seq, err)
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

func decode(body string) (m utp.Message, err error) {
	if err = json.Unmarshal([]byte(body), &m); err != nil {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return m, err
}

// Append adds messages at the end, all or none.
func (s *Session) Append(ctx context.Context, ms ...utp.Message) error {
	now := s.db.now().UnixMilli()
	return s.db.fail("writing session "+s.ID, s.db.change(ctx, func(tx *sql.Tx) error {
		var last int
		err := tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM messages WHERE session = ?`, s.ID).Scan(&last)
		if err != nil {
			return err
		}
		for i, m := range ms {
			body, err := json.Marshal(m)
			if err != nil {
				return fmt.Errorf("message %d: %w", last+i+1, err)
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO messages (session, seq, role, body, created) VALUES (?, ?, ?, ?, ?)`,
				s.ID, last+i+1, string(m.Role), string(body), now)
			if err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE sessions SET updated = ? WHERE id = ?`, now, s.ID)
		return err
	}))
}

// Exchange is the last question of a session and what came of it.
type Exchange struct {
	Question string
	Answer   string        // the last text of the model; "" when it gave none
	Messages []utp.Message // from the question on
}

// Last gives the last exchange, ErrNotFound when nothing was asked yet.
func (s *Session) Last(ctx context.Context) (Exchange, error) {
	op := "recalling session " + s.ID
	var from sql.NullInt64
	err := s.db.sql.QueryRowContext(ctx, `SELECT max(seq) FROM messages WHERE session = ? AND role = 'user'`, s.ID).Scan(&from)
	if err != nil {
		return Exchange{}, s.db.fail(op, err)
	}
	if !from.Valid {
		return Exchange{}, s.db.fail(op, fmt.Errorf("%w: nothing was asked in it yet", ErrNotFound))
	}
	ms, err := s.read(ctx, int(from.Int64))
	if err != nil {
		return Exchange{}, s.db.fail(op, err)
	}
	x := Exchange{Question: ms[0].Text(), Messages: ms}
	for _, m := range ms[1:] {
		if text := m.Text(); m.Role == utp.Assistant && text != "" {
			x.Answer = text
		}
	}
	return x, nil
}
