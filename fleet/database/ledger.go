package database

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

const keyColumns = `k.id, k.name, k.created, k.expires, k.disabled, k.limits, coalesce(t.id, ''), coalesce(t.name, ''), coalesce(t.created, 0), coalesce(t.limits, '{}')`

const keyTables = ` FROM bx_keys k LEFT JOIN bx_teams t ON t.id = k.team`

// scanner is *sql.Row or *sql.Rows.
type scanner interface{ Scan(to ...any) error }

func readKey(from scanner) (*fleet.Key, error) {
	var k fleet.Key
	var t fleet.Team
	var created, expires, disabled, founded int64
	var limits, shared string
	if err := from.Scan(&k.ID, &k.Name, &created, &expires, &disabled, &limits, &t.ID, &t.Name, &founded, &shared); err != nil {
		return nil, err
	}
	k.Created, k.Expires, k.Disabled = timeOf(created), timeOf(expires), disabled != 0
	if err := json.Unmarshal([]byte(limits), &k.Limits); err != nil {
		return nil, err
	}
	if t.ID != "" {
		t.Created, k.Team = timeOf(founded), &t
		if err := json.Unmarshal([]byte(shared), &t.Limits); err != nil {
			return nil, err
		}
	}
	return &k, nil
}

// Key is for fleet.Ledger.
func (d *DB) Key(ctx context.Context, hash fleet.Hash) (*fleet.Key, error) {
	k, err := readKey(d.safe.QueryRowContext(ctx, `SELECT `+keyColumns+keyTables+` JOIN bx_hashes h ON h.key_id = k.id WHERE h.hash = $1 AND (h.until = 0 OR h.until > $2)`,
		hex.EncodeToString(hash[:]), time.Now().UnixMicro()))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fleet.ErrUnknown
	}
	return k, err
}

// minutes of an entry.
const (
	keyMinute  = 1
	teamMinute = 2
)

// windows are those that a request of the key is charged to, in the order in which
// all transactions take them.
func windows(k *fleet.Key, at time.Time, minutes int) (out []fleet.Spent) {
	for i, s := range k.Subjects() {
		for _, p := range fleet.Pers {
			if p != fleet.Minute || minutes&(1<<i) != 0 {
				out = append(out, fleet.Spent{Subject: s, Per: p, Start: p.Start(at), Limit: s.Limits.Budget[p]})
			}
		}
	}
	slices.SortFunc(out, func(a, b fleet.Spent) int {
		return cmp.Or(strings.Compare(a.Subject.ID, b.Subject.ID), strings.Compare(string(a.Per), string(b.Per)))
	})
	return out
}

// minutesOf says whose minutes are counted: those that have a limit.
func minutesOf(k *fleet.Key) (minutes int) {
	for i, s := range k.Subjects() {
		if a := s.Limits.Budget[fleet.Minute]; a.Tokens > 0 || a.Money > 0 {
			minutes |= keyMinute << i
		}
	}
	return minutes
}

const windowColumns = `(subject, per, start, requests, tokens, money, open_requests, open_tokens, open_money, limit_requests, limit_tokens, limit_money)`

// charge adds to the windows, to those that are there and to new ones: where it is
// bounded, only to those whose limits allow it. It gives those that it has changed.
func charge(ctx context.Context, tx *sql.Tx, to []fleet.Spent, settled, open fleet.Amount, bounded bool) (now []fleet.Spent, err error) {
	var v values
	var rows []string
	for _, w := range to {
		limit := w.Limit
		if w.Per == fleet.Minute {
			limit.Requests = 0 // a rate, which State counts
		}
		rows = append(rows, v.put(w.Subject.ID, string(w.Per), micros(w.Start), settled.Requests, settled.Tokens, int64(settled.Money),
			open.Requests, open.Tokens, int64(open.Money), limit.Requests, limit.Tokens, int64(limit.Money)))
	}
	text := `INSERT INTO bx_windows AS w ` + windowColumns + ` VALUES ` + strings.Join(rows, ", ") + ` ON CONFLICT (subject, per, start) DO UPDATE SET
		requests = w.requests + excluded.requests, tokens = w.tokens + excluded.tokens, money = w.money + excluded.money,
		open_requests = w.open_requests + excluded.open_requests, open_tokens = w.open_tokens + excluded.open_tokens, open_money = w.open_money + excluded.open_money`
	if bounded {
		text += `, limit_requests = excluded.limit_requests, limit_tokens = excluded.limit_tokens, limit_money = excluded.limit_money
			WHERE (excluded.limit_requests = 0 OR w.requests + w.open_requests + excluded.open_requests <= excluded.limit_requests)
			AND (excluded.limit_tokens = 0 OR w.tokens + w.open_tokens + excluded.open_tokens <= excluded.limit_tokens)
			AND (excluded.limit_money = 0 OR w.money + w.open_money + excluded.open_money <= excluded.limit_money)`
	}
	result, err := tx.QueryContext(ctx, text+` RETURNING subject, per, requests, tokens, money, open_requests, open_tokens, open_money`, v...)
	if err != nil {
		return nil, err
	}
	return readWindows(result, to)
}

// readWindows puts what was found into windows; those that were not found are left
// out.
func readWindows(rows *sql.Rows, known []fleet.Spent) (out []fleet.Spent, err error) {
	defer rows.Close()
	for rows.Next() {
		var subject, per string
		var s, o fleet.Amount
		if err := rows.Scan(&subject, &per, &s.Requests, &s.Tokens, &s.Money, &o.Requests, &o.Tokens, &o.Money); err != nil {
			return nil, err
		}
		for _, w := range known {
			if w.Subject.ID == subject && string(w.Per) == per {
				w.Settled, w.Reserved = s, o
				out = append(out, w)
			}
		}
	}
	return out, rows.Err()
}

// Reserve is for fleet.Ledger.
func (d *DB) Reserve(ctx context.Context, r fleet.Reservation) (now []fleet.Spent, err error) {
	minutes := minutesOf(r.Key)
	to := windows(r.Key, r.At, minutes)
	for _, w := range to { // of a window without a line
		if unit := w.Broken(r.Most); unit != "" {
			return nil, d.over(ctx, r, to)
		}
	}
	err = change(ctx, d.safe, func(tx *sql.Tx) error {
		if now, err = charge(ctx, tx, to, fleet.Amount{}, r.Most, true); err != nil {
			return err
		}
		if len(now) < len(to) {
			return &fleet.Over{}
		}
		return enter(ctx, tx, r, fleet.Settlement{Ending: fleet.Open}, minutes)
	})
	var over *fleet.Over
	if errors.As(err, &over) {
		return nil, d.over(ctx, r, to)
	}
	return now, err
}

// Record is for fleet.Ledger.
func (d *DB) Record(ctx context.Context, lines []fleet.Line) error {
	lines = slices.SortedStableFunc(slices.Values(lines), func(a, b fleet.Line) int { return strings.Compare(a.Key.ID, b.Key.ID) })
	return change(ctx, d.safe, func(tx *sql.Tx) error {
		for _, l := range lines {
			minutes := minutesOf(l.Key)
			if _, err := charge(ctx, tx, windows(l.Key, l.Reservation.At, minutes), l.Amount, fleet.Amount{}, false); err != nil {
				return err
			}
			if err := enter(ctx, tx, l.Reservation, l.Settlement, minutes); err != nil {
				return err
			}
		}
		return nil
	})
}

// enter writes the line of a reservation, as it has ended or is open.
func enter(ctx context.Context, tx *sql.Tx, r fleet.Reservation, s fleet.Settlement, minutes int) error {
	team := fleet.Team{}
	if r.Key.Team != nil {
		team = *r.Key.Team
	}
	var v values
	u := s.Usage
	_, err := tx.ExecContext(ctx, `INSERT INTO bx_entries (id, key_id, key_name, team_id, team_name, request, replica, backend, model, dated, at, ended, ending, late, minutes,
		input, cache_read, cache_write, output, reasoning, most_requests, most_tokens, most_money, requests, tokens, money) VALUES `+
		v.put(r.ID, r.Key.ID, r.Key.Name, team.ID, team.Name, r.Request, r.Replica, r.Backend, r.Model, r.Dated, micros(r.At), micros(s.At), string(s.Ending), int64(0), int64(minutes),
			int64(u.Input), int64(u.CacheRead), int64(u.CacheWrite), int64(u.Output), int64(u.Reasoning), r.Most.Requests, r.Most.Tokens, int64(r.Most.Money), s.Amount.Requests, s.Amount.Tokens, int64(s.Amount.Money)), v...)
	return err
}

// over says which budget does not allow a reservation.
func (d *DB) over(ctx context.Context, r fleet.Reservation, to []fleet.Spent) error {
	now, err := d.look(ctx, to)
	if err != nil {
		return err
	}
	for _, w := range now {
		if unit := w.Broken(r.Most); unit != "" {
			return &fleet.Over{Spent: w, Unit: unit, Want: r.Most}
		}
	}
	return &fleet.Over{Spent: to[0], Unit: "requests", Want: r.Most} // what was in the way is gone: asked again it passes
}

// look reads windows; those without a line are empty.
func (d *DB) look(ctx context.Context, of []fleet.Spent) ([]fleet.Spent, error) {
	var v values
	var which []string
	for _, w := range of {
		which = append(which, v.put(w.Subject.ID, string(w.Per), micros(w.Start)))
	}
	rows, err := d.safe.QueryContext(ctx, `SELECT subject, per, requests, tokens, money, open_requests, open_tokens, open_money FROM bx_windows
		WHERE (subject, per, start) IN (VALUES `+d.typed(which)+`)`, v...)
	if err != nil {
		return nil, err
	}
	found, err := readWindows(rows, of)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(of)
	for i := range out {
		for _, w := range found {
			if w.Subject.ID == out[i].Subject.ID && w.Per == out[i].Per {
				out[i] = w
			}
		}
	}
	return out, nil
}

// typed joins rows of a subject, a time and a start for a list of values, whose
// types PostgreSQL cannot know.
func (d *DB) typed(rows []string) string {
	text := strings.Join(rows, ", ")
	if !d.pg {
		return text
	}
	for i, row := range rows {
		p := strings.Split(strings.Trim(row, "()"), ", ")
		rows[i] = "(" + p[0] + "::text, " + p[1] + "::text, " + p[2] + "::bigint)"
	}
	return strings.Join(rows, ", ")
}

// Windows is for fleet.Ledger.
func (d *DB) Windows(ctx context.Context, k *fleet.Key, now time.Time) ([]fleet.Spent, error) {
	return d.look(ctx, windows(k, now, keyMinute|teamMinute))
}

// Settle is for fleet.Ledger.
func (d *DB) Settle(ctx context.Context, s fleet.Settlement) (out fleet.Outcome, err error) {
	open := "('open', 'unsettled')"
	if s.Ending == fleet.Unsettled {
		open = "('open')"
	}
	err = change(ctx, d.safe, func(tx *sql.Tx) error {
		out = fleet.Outcome{}
		var v values
		id := v.put(s.ID)
		places := v.put(micros(s.At), string(s.Ending), int64(s.Usage.Input), int64(s.Usage.CacheRead), int64(s.Usage.CacheWrite), int64(s.Usage.Output), int64(s.Usage.Reasoning),
			s.Amount.Requests, s.Amount.Tokens, int64(s.Amount.Money))
		var late int
		var minutes int
		var at int64
		var key, team string
		var most fleet.Amount
		// The right side of an assignment reads the line as it was.
		err := tx.QueryRowContext(ctx, `UPDATE bx_entries SET late = CASE WHEN ending = 'unsettled' THEN 1 ELSE 0 END,
			(ended, ending, input, cache_read, cache_write, output, reasoning, requests, tokens, money) = `+d.row(places)+`
			WHERE id = `+id+` AND ending IN `+open+` RETURNING late, minutes, at, key_id, team_id, most_requests, most_tokens, most_money`, v...).
			Scan(&late, &minutes, &at, &key, &team, &most.Requests, &most.Tokens, &most.Money)
		if errors.Is(err, sql.ErrNoRows) {
			return known(ctx, tx, s.ID)
		}
		if err != nil {
			return err
		}
		out.Late = late == 1
		out.Over = s.Amount.Tokens > most.Tokens || s.Amount.Money > most.Money
		k := &fleet.Key{ID: key}
		if team != "" {
			k.Team = &fleet.Team{ID: team}
		}
		settled, reserved := s.Amount, minus(fleet.Amount{}, most)
		if out.Late {
			settled, reserved = minus(settled, most), fleet.Amount{}
		}
		_, err = charge(ctx, tx, windows(k, timeOf(at), minutes), settled, reserved, false)
		return err
	})
	return out, err
}

// row is a list of values for an assignment to several columns.
func (d *DB) row(places string) string {
	if d.pg {
		return "ROW " + places
	}
	return places
}

func minus(a, b fleet.Amount) fleet.Amount {
	return fleet.Amount{Requests: a.Requests - b.Requests, Tokens: a.Tokens - b.Tokens, Money: a.Money - b.Money}
}

// known tells a reservation that has ended, of which nothing is left to do, from
// one that never was.
func known(ctx context.Context, tx *sql.Tx, id string) error {
	var n int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM bx_entries WHERE id = $1`, id).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		return fleet.ErrUnknown
	}
	return nil
}

// Lease is for fleet.Ledger.
func (d *DB) Lease(ctx context.Context, replica string, until time.Time) error {
	_, err := d.safe.ExecContext(ctx, `INSERT INTO bx_replicas AS r (id, until) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET until = excluded.until`, replica, micros(until))
	return err
}

// sweeps is how many reservations a Sweep takes up at once, and oldReplica and
// oldMinute are when the line of a replica and of a minute is of no more use.
const (
	sweeps     = 1000
	oldReplica = 24 * time.Hour
	oldMinute  = 48 * time.Hour
)

// Sweep is for fleet.Ledger.
func (d *DB) Sweep(ctx context.Context, now time.Time) (charged int, err error) {
	rows, err := d.safe.QueryContext(ctx, `SELECT e.id, e.most_requests, e.most_tokens, e.most_money FROM bx_entries e LEFT JOIN bx_replicas r ON r.id = e.replica
		WHERE e.ending = 'open' AND coalesce(r.until, 0) < $1 ORDER BY e.id LIMIT $2`, micros(now), sweeps)
	if err != nil {
		return 0, err
	}
	var lost []fleet.Settlement
	for rows.Next() {
		s := fleet.Settlement{Ending: fleet.Unsettled, At: now}
		if err = rows.Scan(&s.ID, &s.Amount.Requests, &s.Amount.Tokens, &s.Amount.Money); err != nil {
			break
		}
		lost = append(lost, s)
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for _, s := range lost {
		if _, err := d.Settle(ctx, s); err != nil {
			return charged, err
		}
		charged++
	}
	_, err = d.safe.ExecContext(ctx, `DELETE FROM bx_replicas WHERE until < $1 AND NOT EXISTS (SELECT 1 FROM bx_entries e WHERE e.replica = bx_replicas.id AND e.ending = 'open')`, micros(now.Add(-oldReplica)))
	if err == nil {
		_, err = d.safe.ExecContext(ctx, `DELETE FROM bx_windows WHERE per = 'minute' AND start < $1 AND open_requests = 0`, micros(now.Add(-oldMinute)))
	}
	return charged, err
}
