package database

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// administer changes the books and writes who did so, both or neither. f may say how.
func (d *DB) administer(ctx context.Context, act fleet.Act, f func(tx *sql.Tx, a *fleet.Act) error) error {
	err := change(ctx, d.safe, func(tx *sql.Tx) error {
		a := act
		called, err := calledNow(ctx, tx, a.On)
		if err == nil {
			err = f(tx, &a)
		}
		if err != nil {
			return err
		}
		if called != "" {
			a.How = strings.TrimSuffix(called+", "+a.How, ", ")
		}
		var v values
		_, err = tx.ExecContext(ctx, `INSERT INTO bx_audit (id, at, who, what, subject, how) VALUES `+v.put(d.newID(), micros(a.At), a.By, a.What, a.On, a.How), v...)
		return err
	})
	if twice(err) {
		return fleet.ErrTaken
	}
	return err
}

// calledNow is what a key or a team is called before it is changed or deleted; "" if it
// is not there yet.
func calledNow(ctx context.Context, tx *sql.Tx, id string) (name string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT name FROM bx_keys WHERE id = $1 UNION ALL SELECT name FROM bx_teams WHERE id = $1`, id).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return name, err
}

// oneOf has a statement change one line, or be fleet.ErrUnknown.
func oneOf(ctx context.Context, tx *sql.Tx, statement string, v ...any) error {
	result, err := tx.ExecContext(ctx, statement, v...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(fleet.ErrUnknown, err)
	}
	return nil
}

func written(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// CreateTeam is for fleet.Books.
func (d *DB) CreateTeam(ctx context.Context, by string, t fleet.Team) error {
	how, err := written(t.Limits)
	if err != nil {
		return err
	}
	return d.administer(ctx, fleet.Act{At: t.Created, By: by, What: "create team", On: t.ID, How: t.Name + ", " + how}, func(tx *sql.Tx, _ *fleet.Act) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO bx_teams (id, name, created, limits) VALUES ($1, $2, $3, $4)`, t.ID, t.Name, micros(t.Created), how)
		return err
	})
}

// Teams is for fleet.Books.
func (d *DB) Teams(ctx context.Context) (out []fleet.Team, err error) {
	rows, err := d.safe.QueryContext(ctx, `SELECT id, name, created, limits FROM bx_teams ORDER BY name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out = []fleet.Team{}
	for rows.Next() {
		var t fleet.Team
		var created int64
		var limits string
		if err := rows.Scan(&t.ID, &t.Name, &created, &limits); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(limits), &t.Limits); err != nil {
			return nil, err
		}
		t.Created = timeOf(created)
		out = append(out, t)
	}
	return out, rows.Err()
}

// SetTeam is for fleet.Books.
func (d *DB) SetTeam(ctx context.Context, by, id string, set func(*fleet.Limits) error, now time.Time) error {
	return d.administer(ctx, fleet.Act{At: now, By: by, What: "set team", On: id}, func(tx *sql.Tx, a *fleet.Act) error {
		var text string
		var l fleet.Limits
		err := tx.QueryRowContext(ctx, d.locked(`SELECT limits FROM bx_teams WHERE id = $1`, "UPDATE"), id).Scan(&text)
		if errors.Is(err, sql.ErrNoRows) {
			return fleet.ErrUnknown
		}
		if err == nil {
			err = json.Unmarshal([]byte(text), &l)
		}
		if err == nil {
			err = set(&l)
		}
		if err == nil {
			a.How, err = written(l)
		}
		if err != nil {
			return err
		}
		return oneOf(ctx, tx, `UPDATE bx_teams SET limits = $1 WHERE id = $2`, a.How, id)
	})
}

// locked is a question whose answer nobody else changes until the transaction ends: in
// SQLite that holds for all, in PostgreSQL for the lines of a table.
func (d *DB) locked(question, of string) string {
	if d.pg {
		question += " FOR " + of
	}
	return question
}

// hasTeam is fleet.ErrUnknown where a team is not there; else it stays until the
// transaction ends. Who makes a key of it shares it, who deletes it does not.
func (d *DB) hasTeam(ctx context.Context, tx *sql.Tx, id, lock string) error {
	var name string
	err := tx.QueryRowContext(ctx, d.locked(`SELECT name FROM bx_teams WHERE id = $1`, lock), id).Scan(&name)
	if errors.Is(err, sql.ErrNoRows) {
		return fleet.ErrUnknown
	}
	return err
}

// DeleteTeam is for fleet.Books.
func (d *DB) DeleteTeam(ctx context.Context, by, id string, now time.Time) error {
	return d.administer(ctx, fleet.Act{At: now, By: by, What: "delete team", On: id}, func(tx *sql.Tx, _ *fleet.Act) error {
		if err := d.hasTeam(ctx, tx, id, "UPDATE"); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM bx_keys WHERE team = $1`, id).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return fleet.ErrInUse
		}
		return oneOf(ctx, tx, `DELETE FROM bx_teams WHERE id = $1`, id)
	})
}

func teamOf(k fleet.Key) string {
	if k.Team == nil {
		return ""
	}
	return k.Team.ID
}

// CreateKey is for fleet.Books.
func (d *DB) CreateKey(ctx context.Context, by string, k fleet.Key, hash fleet.Hash) error {
	limits, err := written(k.Limits)
	if err != nil {
		return err
	}
	return d.administer(ctx, fleet.Act{At: k.Created, By: by, What: "create key", On: k.ID, How: k.Name + ", " + how(k, limits)}, func(tx *sql.Tx, _ *fleet.Act) error {
		if k.Team != nil {
			if err := d.hasTeam(ctx, tx, k.Team.ID, "SHARE"); err != nil {
				return err
			}
		}
		var v values
		if _, err := tx.ExecContext(ctx, `INSERT INTO bx_keys (id, name, team, created, expires, disabled, limits) VALUES `+
			v.put(k.ID, k.Name, teamOf(k), micros(k.Created), micros(k.Expires), bit(k.Disabled), limits), v...); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO bx_hashes (hash, key_id, until) VALUES ($1, $2, 0)`, hex.EncodeToString(hash[:]), k.ID)
		return err
	})
}

// how describes a key for the audit.
func how(k fleet.Key, limits string) string {
	var words []string
	if k.Team != nil {
		words = append(words, "team "+k.Team.Name)
	}
	if k.Disabled {
		words = append(words, "disabled")
	}
	if !k.Expires.IsZero() {
		words = append(words, "until "+k.Expires.UTC().Format(time.RFC3339))
	}
	return strings.Join(append(words, limits), ", ")
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Keys is for fleet.Books.
func (d *DB) Keys(ctx context.Context, called ...string) (out []fleet.Key, err error) {
	var v values
	where := ""
	if len(called) > 0 {
		names := v.put(anys(called)...)
		where = ` WHERE k.name IN ` + names + ` OR k.id IN ` + names
	}
	rows, err := d.safe.QueryContext(ctx, `SELECT `+keyColumns+keyTables+where+` ORDER BY k.name`, v...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out = []fleet.Key{}
	for rows.Next() {
		k, err := readKey(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, *k)
	}
	return out, rows.Err()
}

// SetKey is for fleet.Books: the limits, the team, the end and whether it is
// disabled.
func (d *DB) SetKey(ctx context.Context, by, id string, set func(*fleet.Key) error, now time.Time) error {
	return d.administer(ctx, fleet.Act{At: now, By: by, What: "set key", On: id}, func(tx *sql.Tx, a *fleet.Act) error {
		k, err := readKey(tx.QueryRowContext(ctx, d.locked(`SELECT `+keyColumns+keyTables+` WHERE k.id = $1`, "UPDATE OF k"), id))
		if errors.Is(err, sql.ErrNoRows) {
			return fleet.ErrUnknown
		}
		if err == nil {
			err = set(k)
		}
		if err != nil {
			return err
		}
		limits, err := written(k.Limits)
		if err == nil && k.Team != nil {
			err = d.hasTeam(ctx, tx, k.Team.ID, "SHARE")
		}
		if err != nil {
			return err
		}
		a.How = how(*k, limits)
		return oneOf(ctx, tx, `UPDATE bx_keys SET team = $1, expires = $2, disabled = $3, limits = $4 WHERE id = $5`, teamOf(*k), micros(k.Expires), bit(k.Disabled), limits, id)
	})
}

// Rotate is for fleet.Books. Hashes that were rotated before end no later than the
// one that is now.
func (d *DB) Rotate(ctx context.Context, by, id string, hash fleet.Hash, old, now time.Time) error {
	return d.administer(ctx, fleet.Act{At: now, By: by, What: "rotate key", On: id, How: "the old one until " + old.UTC().Format(time.RFC3339)}, func(tx *sql.Tx, _ *fleet.Act) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM bx_hashes WHERE key_id = $1 AND until > 0 AND until <= $2`, id, micros(now)); err != nil {
			return err
		}
		if err := oneOf(ctx, tx, `UPDATE bx_hashes SET until = $1 WHERE key_id = $2 AND (until = 0 OR until > $1)`, micros(old), id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO bx_hashes (hash, key_id, until) VALUES ($1, $2, 0)`, hex.EncodeToString(hash[:]), id)
		return err
	})
}

// DeleteKey is for fleet.Books. What the key has spent stays.
func (d *DB) DeleteKey(ctx context.Context, by, id string, now time.Time) error {
	return d.administer(ctx, fleet.Act{At: now, By: by, What: "delete key", On: id}, func(tx *sql.Tx, _ *fleet.Act) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM bx_hashes WHERE key_id = $1`, id); err != nil {
			return err
		}
		return oneOf(ctx, tx, `DELETE FROM bx_keys WHERE id = $1`, id)
	})
}

// Entries is for fleet.Books: in the order of time.
func (d *DB) Entries(ctx context.Context, q fleet.Query, each func(fleet.Entry) error) error {
	where, v := selected(q)
	text := `SELECT id, key_id, key_name, team_name, request, backend, model, dated, at, ended, ending, late, input, cache_read, cache_write, output, reasoning,
		most_requests, most_tokens, most_money, requests, tokens, money FROM bx_entries` + where + ` ORDER BY at, id`
	if q.Limit > 0 {
		text += fmt.Sprintf(` LIMIT %d`, q.Limit)
	}
	rows, err := d.safe.QueryContext(ctx, text, v...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var e fleet.Entry
		var at, ended, late int64
		var ending string
		u := &e.Usage
		if err := rows.Scan(&e.ID, &e.KeyID, &e.Key, &e.Team, &e.Request, &e.Backend, &e.Model, &e.Dated, &at, &ended, &ending, &late, &u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning,
			&e.Most.Requests, &e.Most.Tokens, &e.Most.Money, &e.Amount.Requests, &e.Amount.Tokens, &e.Amount.Money); err != nil {
			return err
		}
		e.At, e.Ended, e.Ending, e.Late = timeOf(at), timeOf(ended), fleet.Ending(ending), late != 0
		if err := each(e); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Audit is for fleet.Books: in the order of time.
func (d *DB) Audit(ctx context.Context, each func(fleet.Act) error) error {
	rows, err := d.safe.QueryContext(ctx, `SELECT at, who, what, subject, how FROM bx_audit ORDER BY at, id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var a fleet.Act
		var at int64
		if err := rows.Scan(&at, &a.By, &a.What, &a.On, &a.How); err != nil {
			return err
		}
		a.At = timeOf(at)
		if err := each(a); err != nil {
			return err
		}
	}
	return rows.Err()
}
