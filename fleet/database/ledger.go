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
	slices.SortFunc(out, byName)
	return out
}

func byName(a, b fleet.Spent) int {
	return cmp.Or(strings.Compare(a.Subject.ID, b.Subject.ID), strings.Compare(string(a.Per), string(b.Per)), a.Start.Compare(b.Start))
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

// windowLines are the windows of a statement, in the order in which all
// transactions take them.
func windowLines(of []fleet.Spent) *lines {
	l := &lines{columns: []string{"n_subject", "n_per", "n_start", "n_place"}, numbers: 2}
	for i, w := range of {
		l.add(w.Subject.ID, string(w.Per), micros(w.Start), int64(i))
	}
	return l
}

const findWindows = `SELECT subject, per, start, requests, tokens, money, open_requests, open_tokens, open_money
	FROM {lines} JOIN bx_windows AS w ON subject = n_subject AND per = n_per AND start = n_start ORDER BY n_place`

// windowName is what tells a window from others.
type windowName struct {
	subject string
	per     fleet.Per
	start   int64
}

func nameOf(w fleet.Spent) windowName { return windowName{w.Subject.ID, w.Per, micros(w.Start)} }

// readWindow reads a line of findWindows.
func readWindow(from scanner) (is windowName, settled, reserved fleet.Amount, err error) {
	err = from.Scan(&is.subject, &is.per, &is.start, &settled.Requests, &settled.Tokens, &settled.Money, &reserved.Requests, &reserved.Tokens, &reserved.Money)
	return is, settled, reserved, err
}

// Windows is for fleet.Ledger. Windows without a line are empty.
func (d *DB) Windows(ctx context.Context, k *fleet.Key, now time.Time) ([]fleet.Spent, error) {
	out := windows(k, now, keyMinute|teamMinute)
	for _, s := range windowLines(out).steps(d, findWindows, func(from scanner) error {
		is, settled, reserved, err := readWindow(from)
		for i := range out {
			if nameOf(out[i]) == is {
				out[i].Settled, out[i].Reserved = settled, reserved
			}
		}
		return err
	}) {
		if err := each(ctx, d.safe, s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func plus(a, b fleet.Amount) fleet.Amount {
	return fleet.Amount{Requests: a.Requests + b.Requests, Tokens: a.Tokens + b.Tokens, Money: a.Money + b.Money}
}

func minus(a, b fleet.Amount) fleet.Amount {
	return fleet.Amount{Requests: a.Requests - b.Requests, Tokens: a.Tokens - b.Tokens, Money: a.Money - b.Money}
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
	for some := range slices.Chunk(lost, mostTogether) {
		var asks []*ask
		for _, s := range some {
			asks = append(asks, &ask{settle: s})
		}
		d.together(ctx, asks)
		for _, a := range asks {
			if a.err != nil {
				return charged, a.err
			}
			charged++
		}
	}
	_, err = d.safe.ExecContext(ctx, `DELETE FROM bx_replicas WHERE until < $1 AND NOT EXISTS (SELECT 1 FROM bx_entries e WHERE e.replica = bx_replicas.id AND e.ending = 'open')`, micros(now.Add(-oldReplica)))
	if err == nil {
		_, err = d.safe.ExecContext(ctx, `DELETE FROM bx_windows WHERE per = 'minute' AND start < $1 AND open_requests = 0`, micros(now.Add(-oldMinute)))
	}
	return charged, err
}
