package database

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// ask is a reservation or a settlement. Those of one budget are booked together, each
// decided by itself.
type ask struct {
	reserve *fleet.Reservation // nil: it settles
	settle  fleet.Settlement

	now []fleet.Spent
	out fleet.Outcome
	err error
}

func (a *ask) id() string {
	if a.reserve != nil {
		return a.reserve.ID
	}
	return a.settle.ID
}

// reserved is by whose budget reservations are that have not ended, by id.
type reserved struct {
	mu sync.Mutex
	by map[string]string
}

// Reserve is for fleet.Ledger.
func (d *DB) Reserve(ctx context.Context, r fleet.Reservation) ([]fleet.Spent, error) {
	queue := r.Key.ID
	if r.Key.Team != nil {
		queue = r.Key.Team.ID
	}
	d.reserved.add(r.ID, queue)
	a := &ask{reserve: &r}
	if err := d.books.await(ctx, queue, a); err != nil {
		return nil, err
	}
	var over *fleet.Over
	if errors.As(a.err, &over) {
		d.reserved.drop(r.ID)
	}
	return a.now, a.err
}

// Settle is for fleet.Ledger.
func (d *DB) Settle(ctx context.Context, s fleet.Settlement) (fleet.Outcome, error) {
	a := &ask{settle: s}
	if err := d.books.await(ctx, d.reserved.queue(s.ID), a); err != nil {
		return fleet.Outcome{}, err
	}
	if a.err == nil || errors.Is(a.err, fleet.ErrUnknown) {
		d.reserved.drop(s.ID)
	}
	return a.out, a.err
}

// Record is for fleet.Ledger. What was booked by a call whose answer was lost is not
// booked again.
func (d *DB) Record(ctx context.Context, all []fleet.Line) error {
	return d.transact(ctx, d.safe, func(t *transaction) error {
		b := d.booking()
		by := map[string]fleet.Line{}
		for _, l := range all {
			b.enter(l.Reservation, l.Settlement)
			by[l.Reservation.ID] = l
		}
		if err := t.do(ctx, b.entries.steps(d, enterEntries+` ON CONFLICT (id) DO NOTHING RETURNING id`, func(from scanner) error {
			var id string
			if err := from.Scan(&id); err != nil {
				return err
			}
			l := by[id]
			for _, w := range windows(l.Key, l.Reservation.At, minutesOf(l.Key)) {
				b.window(w).add(l.Amount, fleet.Amount{})
			}
			return nil
		})...); err != nil {
			return err
		}
		return t.commit(ctx, b.changes()...)
	})
}

func (r *reserved) add(id, queue string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string]string{}
	}
	r.by[id] = queue
}

func (r *reserved) drop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.by, id)
}

// queue is where a reservation is settled; one of another replica's has its own.
func (r *reserved) queue(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.by[id], id)
}

// together answers asks in one transaction. Where the database refuses it, each has
// its own, as one of them may be at fault.
func (d *DB) together(ctx context.Context, all []*ask) {
	err := d.book(ctx, all)
	if err == nil {
		return
	}
	var theirs *pgconn.PgError
	if len(all) > 1 && (errors.As(err, &theirs) || twice(err)) {
		for _, a := range all {
			d.together(ctx, []*ask{a})
		}
		return
	}
	for _, a := range all {
		a.err = err
	}
}

// window is a line of bx_windows in a transaction.
type window struct {
	fleet.Spent                // its name, and what it holds
	settled, open fleet.Amount // what the transaction adds
}

// booking is what a transaction writes.
type booking struct {
	d       *DB
	windows map[windowName]*window
	entries *lines
}

func (d *DB) booking() *booking {
	return &booking{d: d, windows: map[windowName]*window{}, entries: &lines{columns: entryColumns, numbers: 14}}
}

func (b *booking) window(of fleet.Spent) *window {
	w := b.windows[nameOf(of)]
	if w == nil {
		w = &window{Spent: of}
		b.windows[nameOf(of)] = w
	}
	return w
}

// sorted are the windows in the order in which all transactions take them.
func (b *booking) sorted() (out []fleet.Spent) {
	for _, w := range b.windows {
		out = append(out, w.Spent)
	}
	slices.SortFunc(out, byName)
	return out
}

// book answers asks in one transaction: first what ends, then what is reserved.
func (d *DB) book(ctx context.Context, all []*ask) error {
	return d.transact(ctx, d.safe, func(t *transaction) error {
		b := d.booking()
		var wanted []*ask
		ending := map[string]*ask{}
		for _, a := range all {
			a.now, a.out, a.err = nil, fleet.Outcome{}, nil
			if a.reserve == nil {
				ending[a.settle.ID] = a
			} else {
				wanted = append(wanted, a)
			}
		}
		ended, err := b.end(ctx, t, ending)
		if err != nil {
			return err
		}
		for _, a := range wanted {
			for _, w := range windows(a.reserve.Key, a.reserve.At, minutesOf(a.reserve.Key)) {
				b.window(w)
			}
		}
		if len(wanted) > 0 {
			if err := b.hold(ctx, t); err != nil {
				return err
			}
		}
		for _, a := range wanted {
			b.decide(a)
		}
		if !ended && len(b.entries.of) == 0 {
			return nil
		}
		return t.commit(ctx, slices.Concat(b.changes(), b.entries.steps(d, enterEntries, nil))...)
	})
}

// endEntries has the first settlement of a reservation count, but for a charge in
// full, which any other corrects. The right side of an assignment reads the line as
// it was.
const endEntries = `UPDATE bx_entries SET late = CASE WHEN ending = 'unsettled' THEN 1 ELSE 0 END,
	ending = n_ending, ended = n_ended, input = n_input, cache_read = n_cache_read, cache_write = n_cache_write, output = n_output, reasoning = n_reasoning,
	requests = n_requests, tokens = n_tokens, money = n_money
	FROM {lines} WHERE id = n_id AND (ending = 'open' OR ending = 'unsettled' AND n_ending <> 'unsettled')
	RETURNING id, late, minutes, at, key_id, team_id, most_requests, most_tokens, most_money`

// end settles reservations, by id, and reports whether one of them has changed.
func (b *booking) end(ctx context.Context, t *transaction, of map[string]*ask) (changed bool, err error) {
	if len(of) == 0 {
		return false, nil
	}
	l := &lines{columns: []string{"n_id", "n_ending", "n_ended", "n_input", "n_cache_read", "n_cache_write", "n_output", "n_reasoning", "n_requests", "n_tokens", "n_money"}, numbers: 9}
	missing := &lines{columns: []string{"n_id"}}
	for _, id := range slices.Sorted(maps.Keys(of)) {
		a := of[id]
		s, u := a.settle, a.settle.Usage
		a.err = fleet.ErrUnknown
		l.add(s.ID, string(s.Ending), micros(s.At), int64(u.Input), int64(u.CacheRead), int64(u.CacheWrite), int64(u.Output), int64(u.Reasoning), s.Amount.Requests, s.Amount.Tokens, int64(s.Amount.Money))
	}
	err = t.do(ctx, l.steps(b.d, endEntries, func(from scanner) error {
		var id, key, team string
		var late, minutes int
		var at int64
		var most fleet.Amount
		if err := from.Scan(&id, &late, &minutes, &at, &key, &team, &most.Requests, &most.Tokens, &most.Money); err != nil {
			return err
		}
		a := of[id]
		is := a.settle.Amount
		a.err, a.out = nil, fleet.Outcome{Late: late == 1, Over: is.Tokens > most.Tokens || is.Money > most.Money}
		k := &fleet.Key{ID: key}
		if team != "" {
			k.Team = &fleet.Team{ID: team}
		}
		settled, open := is, minus(fleet.Amount{}, most)
		if a.out.Late {
			settled, open = minus(is, most), fleet.Amount{}
		}
		for _, w := range windows(k, timeOf(at), minutes) {
			b.window(w).add(settled, open)
		}
		changed = true
		return nil
	})...)
	for id, a := range of {
		if a.err != nil {
			missing.add(id)
		}
	}
	if err != nil || len(missing.of) == 0 {
		return changed, err
	}
	return changed, t.do(ctx, missing.steps(b.d, `SELECT id FROM {lines} JOIN bx_entries ON id = n_id`, func(from scanner) error {
		var id string
		if err := from.Scan(&id); err != nil {
			return err
		}
		of[id].err = nil // it has ended before
		return nil
	})...)
}

func (w *window) add(settled, open fleet.Amount) {
	w.settled, w.open = plus(w.settled, settled), plus(w.open, open)
}

// hold reads the windows and keeps others from changing them until the end of the
// transaction.
func (b *booking) hold(ctx context.Context, t *transaction) error {
	missing := map[windowName]bool{}
	for name := range b.windows {
		missing[name] = true
	}
	read := func(from scanner) error {
		is, settled, reserved, err := readWindow(from)
		if w := b.windows[is]; w != nil {
			w.Settled, w.Reserved = settled, reserved
			delete(missing, is)
		}
		return err
	}
	text := findWindows
	if b.d.pg {
		text += " FOR UPDATE OF w"
	}
	if err := t.do(ctx, windowLines(b.sorted()).steps(b.d, text, read)...); err != nil || len(missing) == 0 {
		return err
	}
	fresh := slices.DeleteFunc(b.sorted(), func(w fleet.Spent) bool { return !missing[nameOf(w)] })
	l := &lines{columns: windowColumns, numbers: len(windowColumns) - 2}
	for _, w := range fresh {
		l.add(w.Subject.ID, string(w.Per), micros(w.Start), int64(0), int64(0), int64(0), int64(0), int64(0), int64(0))
	}
	return t.do(ctx, l.steps(b.d, addToWindows+` RETURNING subject, per, start, requests, tokens, money, open_requests, open_tokens, open_money`, read)...)
}

// decide answers a reservation by what the windows hold, with what this transaction
// has added.
func (b *booking) decide(a *ask) {
	r := a.reserve
	var now []fleet.Spent
	to := windows(r.Key, r.At, minutesOf(r.Key))
	for i, w := range to {
		is := b.window(w)
		to[i].Settled, to[i].Reserved = plus(is.Settled, is.settled), plus(is.Reserved, is.open)
		if unit := to[i].Broken(r.Most); unit != "" {
			a.err = &fleet.Over{Spent: to[i], Unit: unit, Want: r.Most}
			return
		}
	}
	for _, w := range to {
		b.window(w).add(fleet.Amount{}, r.Most)
		w.Reserved = plus(w.Reserved, r.Most)
		now = append(now, w)
	}
	a.now = now
	b.enter(*r, fleet.Settlement{Ending: fleet.Open})
}

var windowColumns = []string{"n_subject", "n_per", "n_start", "n_requests", "n_tokens", "n_money", "n_open_requests", "n_open_tokens", "n_open_money"}

// addToWindows adds to the windows, to those that are there and to new ones.
// Columns of limits are those of an older version.
const addToWindows = `INSERT INTO bx_windows AS w (subject, per, start, requests, tokens, money, open_requests, open_tokens, open_money, limit_requests, limit_tokens, limit_money)
	SELECT n_subject, n_per, n_start, n_requests, n_tokens, n_money, n_open_requests, n_open_tokens, n_open_money, 0, 0, 0 FROM {lines} WHERE true
	ON CONFLICT (subject, per, start) DO UPDATE SET
	requests = w.requests + excluded.requests, tokens = w.tokens + excluded.tokens, money = w.money + excluded.money,
	open_requests = w.open_requests + excluded.open_requests, open_tokens = w.open_tokens + excluded.open_tokens, open_money = w.open_money + excluded.open_money`

// changes write what the transaction adds to windows.
func (b *booking) changes() []step {
	l := &lines{columns: windowColumns, numbers: len(windowColumns) - 2}
	for _, of := range b.sorted() {
		w := b.windows[nameOf(of)]
		if w.settled != (fleet.Amount{}) || w.open != (fleet.Amount{}) {
			l.add(w.Subject.ID, string(w.Per), micros(w.Start), w.settled.Requests, w.settled.Tokens, int64(w.settled.Money), w.open.Requests, w.open.Tokens, int64(w.open.Money))
		}
	}
	return l.steps(b.d, addToWindows, nil)
}

var entryColumns = []string{"n_id", "n_key_id", "n_key_name", "n_team_id", "n_team_name", "n_request", "n_replica", "n_backend", "n_model", "n_dated", "n_ending",
	"n_at", "n_ended", "n_minutes", "n_input", "n_cache_read", "n_cache_write", "n_output", "n_reasoning", "n_most_requests", "n_most_tokens", "n_most_money", "n_requests", "n_tokens", "n_money"}

const enterEntries = `INSERT INTO bx_entries (id, key_id, key_name, team_id, team_name, request, replica, backend, model, dated, ending, late,
	at, ended, minutes, input, cache_read, cache_write, output, reasoning, most_requests, most_tokens, most_money, requests, tokens, money)
	SELECT n_id, n_key_id, n_key_name, n_team_id, n_team_name, n_request, n_replica, n_backend, n_model, n_dated, n_ending, 0,
	n_at, n_ended, n_minutes, n_input, n_cache_read, n_cache_write, n_output, n_reasoning, n_most_requests, n_most_tokens, n_most_money, n_requests, n_tokens, n_money
	FROM {lines} WHERE true`

// enter adds the line of a reservation, as it has ended or is open.
func (b *booking) enter(r fleet.Reservation, s fleet.Settlement) {
	team := fleet.Team{}
	if r.Key.Team != nil {
		team = *r.Key.Team
	}
	u := s.Usage
	b.entries.add(r.ID, r.Key.ID, r.Key.Name, team.ID, team.Name, plain(r.Request), r.Replica, r.Backend, plain(r.Model), r.Dated, string(s.Ending),
		micros(r.At), micros(s.At), int64(minutesOf(r.Key)), int64(u.Input), int64(u.CacheRead), int64(u.CacheWrite), int64(u.Output), int64(u.Reasoning),
		r.Most.Requests, r.Most.Tokens, int64(r.Most.Money), s.Amount.Requests, s.Amount.Tokens, int64(s.Amount.Money))
}

// plain is a client's text as PostgreSQL takes it, which has no NUL and no bytes
// that are not UTF-8.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
