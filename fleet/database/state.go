package database

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// filled is the level of a bucket at excluded.at: it gains its size a minute, its
// size may have changed, and a time before the last one gains nothing.
func filled(unit string) string {
	return strings.NewReplacer("{unit}", unit).Replace(`{least}(excluded.size_{unit}, w.{unit} + excluded.size_{unit} - w.size_{unit}
		+ CASE WHEN excluded.at > w.at THEN (excluded.at - w.at) / 60000000.0 * excluded.size_{unit} ELSE 0 END)`)
}

// texts are statements of rates in the words of the database, which no request spells
// anew.
type texts struct{ take, pay string }

func (d *DB) spellRates() {
	const row = `INSERT INTO bx_rates AS w (owner, at, requests, size_requests, tokens, size_tokens) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (owner) DO UPDATE SET `
	many := "$7"
	if d.pg {
		many += "::double precision"
	}
	d.texts.take = d.spell(row + `requests = ` + filled("requests") + ` - CASE WHEN excluded.size_requests > 0 THEN ` + many + ` ELSE 0 END, size_requests = excluded.size_requests,
		tokens = ` + filled("tokens") + `, size_tokens = excluded.size_tokens, at = {greatest}(w.at, excluded.at)
		WHERE (excluded.size_requests = 0 OR ` + filled("requests") + ` >= ` + many + `) AND (excluded.size_tokens = 0 OR ` + filled("tokens") + ` >= 0.5)
		RETURNING requests`)
	d.texts.pay = d.spell(row + `tokens = ` + filled("tokens") + ` - (excluded.size_tokens - excluded.tokens), size_tokens = excluded.size_tokens,
		requests = ` + filled("requests") + `, size_requests = excluded.size_requests, at = {greatest}(w.at, excluded.at)`)
}

// refusal ends the transaction of a visit that is not let in.
type refusal struct {
	rate fleet.Rate
	unit string
}

func (r *refusal) Error() string { return r.unit }

// ordered are rates in the order in which all transactions take them.
func ordered(rates []fleet.Rate) []fleet.Rate {
	return slices.SortedFunc(slices.Values(rates), func(a, b fleet.Rate) int { return cmp.Compare(a.Owner, b.Owner) })
}

// entering is a visit that wants in. Those of the same rates are let in together.
type entering struct {
	fleet.Visit
	now  time.Time
	pass fleet.Pass
	err  error
}

func (e *entering) id() string { return e.ID }

// enterEvery is how often visits of the same rates are let in where several come at
// once: a statement costs the database more than a request costs its replica.
const enterEvery = 2 * time.Millisecond

// Enter is for fleet.State.
func (d *DB) Enter(ctx context.Context, v fleet.Visit, now time.Time) (fleet.Pass, error) {
	e := &entering{Visit: v, now: now}
	if err := d.visits.await(ctx, fmt.Sprint(v.Rates), e); err != nil {
		return fleet.Pass{}, err
	}
	return e.pass, e.err
}

// enterAll lets visits of the same rates in, all of them, or each that still can.
func (d *DB) enterAll(ctx context.Context, all []*entering) {
	left, err := d.enter(ctx, all)
	var no *refusal
	if refused := errors.As(err, &no); refused && len(all) > 1 {
		for _, e := range all {
			d.enterAll(ctx, []*entering{e})
		}
		return
	} else if refused {
		all[0].pass, all[0].err = d.refused(ctx, no, all[0].now)
		return
	}
	for i, e := range all {
		e.err = err
		for _, r := range e.Rates {
			n := int64(-1)
			if r.Requests > 0 {
				n = left[r.Owner] + int64(len(all)-1-i)
			}
			e.pass.Left = append(e.pass.Left, n)
		}
	}
}

// enter lets visits in, all or none, and gives what is left of the requests of each
// rate.
func (d *DB) enter(ctx context.Context, all []*entering) (left map[string]int64, err error) {
	rates, now := ordered(all[0].Rates), all[0].now
	for _, e := range all {
		if e.now.After(now) {
			now = e.now
		}
	}
	left = map[string]int64{}
	var steps []step
	for _, r := range rates {
		if r.Requests > 0 && r.Requests < int64(len(all)) {
			return nil, &refusal{r, "rate"}
		}
		steps = append(steps, d.take(r, len(all), now, func(level float64) { left[r.Owner] = int64(max(level, 0)) }))
		steps = append(steps, d.running(r, all, now)...)
	}
	return left, d.loosely(ctx, steps)
}

// take takes requests of a rate, if there are so many and there are tokens.
func (d *DB) take(r fleet.Rate, n int, now time.Time, left func(level float64)) step {
	return step{text: d.texts.take, none: &refusal{r, "rate"},
		args: []any{r.Owner, micros(now), float64(max(r.Requests-int64(n), 0)), float64(r.Requests), float64(r.Tokens), float64(r.Tokens), float64(n)},
		read: func(from scanner) error {
			var level float64
			err := from.Scan(&level)
			left(level)
			return err
		}}
}

// run counts a visit among those that run, if the rate lets so many.
const run = `INSERT INTO bx_running (owner, visit, until) SELECT n_owner, n_visit, n_until FROM {lines}
	WHERE (SELECT count(*) FROM bx_running WHERE owner = n_owner AND until > n_now) + n_many <= n_most
	ON CONFLICT (owner, visit) DO UPDATE SET until = excluded.until RETURNING 1`

// running counts visits among those that run, behind take, which holds the line of the
// rate, so that nobody counts at the same time.
func (d *DB) running(r fleet.Rate, all []*entering, now time.Time) (out []step) {
	if r.Parallel == 0 {
		return nil
	}
	many := 1 // with SQLite they come one after the other
	if d.pg {
		many = len(all)
	}
	l := &lines{columns: []string{"n_owner", "n_visit", "n_until", "n_now", "n_many", "n_most"}, numbers: 4}
	for _, e := range all {
		l.add(r.Owner, e.ID, micros(e.Until), micros(now), int64(many), int64(r.Parallel))
	}
	out = l.steps(d, run, nil)
	for i := range out {
		out[i].none = &refusal{r, "parallel"}
	}
	return out
}

// refused says what a rate lacks, and for how long.
func (d *DB) refused(ctx context.Context, no *refusal, now time.Time) (fleet.Pass, error) {
	pass := fleet.Pass{Refused: no.unit, Owner: no.rate.Owner, Wait: time.Second}
	if no.unit == "parallel" {
		return pass, nil
	}
	var at int64
	var requests, tokens float64
	if err := d.loose.QueryRowContext(ctx, `SELECT at, requests, tokens FROM bx_rates WHERE owner = $1`, no.rate.Owner).Scan(&at, &requests, &tokens); err != nil {
		return pass, err
	}
	pass.Refused, pass.Wait = Short(no.rate, requests, tokens, now.Sub(timeOf(at)))
	return pass, nil
}

// Short says which of the two units of a rate is used up, and how long it is until
// there is some again, for levels that were so a while before.
func Short(r fleet.Rate, requests, tokens float64, since time.Duration) (unit string, wait time.Duration) {
	gained := max(0, since.Minutes())
	lack := func(size int64, level, want float64) time.Duration {
		return time.Duration((want - min(float64(size), level+gained*float64(size))) / float64(size) * float64(time.Minute))
	}
	if r.Tokens > 0 {
		if wait := lack(r.Tokens, tokens, 0.5); wait > 0 {
			return "tokens", wait
		}
	}
	if r.Requests > 0 {
		return "requests", max(0, lack(r.Requests, requests, 1))
	}
	return "tokens", 0
}

// Leave is for fleet.State.
func (d *DB) Leave(ctx context.Context, v fleet.Visit, tokens int64, now time.Time) error {
	var steps []step
	for _, r := range ordered(v.Rates) {
		if r.Parallel > 0 {
			steps = append(steps, step{text: `DELETE FROM bx_running WHERE owner = $1 AND visit = $2`, args: []any{r.Owner, v.ID}})
		}
		if r.Tokens > 0 && tokens != 0 {
			steps = append(steps, step{text: d.texts.pay, args: []any{r.Owner, micros(now), float64(r.Requests), float64(r.Requests), float64(r.Tokens - tokens), float64(r.Tokens)}})
		}
	}
	return d.loosely(ctx, steps)
}

// loosely runs steps, all or none, in one round trip where the database is a server.
func (d *DB) loosely(ctx context.Context, steps []step) error {
	switch len(steps) {
	case 0:
		return nil
	case 1:
		return each(ctx, d.loose, steps[0])
	}
	return d.transact(ctx, d.loose, func(t *transaction) error { return t.commit(ctx, steps...) })
}

// Renew is for fleet.State.
func (d *DB) Renew(ctx context.Context, visits []fleet.Visit, _ time.Time) error {
	for _, v := range visits {
		if _, err := d.loose.ExecContext(ctx, `UPDATE bx_running SET until = $1 WHERE visit = $2`, micros(v.Until), v.ID); err != nil {
			return err
		}
	}
	return nil
}

// touchAfter is how old the time of an item may be before a reading renews it.
const touchAfter = time.Hour

// Get is for fleet.State.
func (d *DB) Get(ctx context.Context, owner string, keys []string, now time.Time) (out [][]byte, err error) {
	out = make([][]byte, len(keys))
	if len(keys) == 0 {
		return out, nil
	}
	var v values
	mine := strings.Trim(v.put(owner), "()")
	after := strings.Trim(v.put(micros(now.Add(-fleet.Keep))), "()")
	var names []any
	for _, k := range keys {
		names = append(names, k)
	}
	rows, err := d.loose.QueryContext(ctx, `SELECT name, value, at FROM bx_kept WHERE owner = `+mine+` AND at > `+after+` AND name IN `+v.put(names...), v...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var old []any
	for rows.Next() {
		var name string
		var value []byte
		var at int64
		if err := rows.Scan(&name, &value, &at); err != nil {
			return nil, err
		}
		for i, k := range keys {
			if k == name {
				out[i] = value
			}
		}
		if now.Sub(timeOf(at)) > touchAfter {
			old = append(old, name)
		}
	}
	if err := rows.Err(); err != nil || len(old) == 0 {
		return out, err
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	var t values
	at := strings.Trim(t.put(micros(now)), "()")
	mine = strings.Trim(t.put(owner), "()")
	_, err = d.loose.ExecContext(ctx, `UPDATE bx_kept SET at = `+at+` WHERE owner = `+mine+` AND name IN `+t.put(old...), t...)
	return out, err
}

// Put is for fleet.State.
func (d *DB) Put(ctx context.Context, items []fleet.Item, now time.Time) error {
	var v values
	rows := map[[2]string]string{}
	for _, it := range slices.Backward(items) { // of several of one name the last
		at := [2]string{it.Owner, it.Key}
		if _, has := rows[at]; !has {
			rows[at] = v.put(it.Owner, it.Key, it.Value, micros(now))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	var sorted []string
	for _, at := range slices.SortedFunc(maps.Keys(rows), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		sorted = append(sorted, rows[at])
	}
	text := `INSERT INTO bx_kept (owner, name, value, at) VALUES ` + strings.Join(sorted, ", ") + ` ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value, at = excluded.at`
	_, err := d.loose.ExecContext(ctx, text, v...)
	return err
}

// Forget is for fleet.State.
func (d *DB) Forget(ctx context.Context, owner string) error {
	_, err := d.loose.ExecContext(ctx, `DELETE FROM bx_kept WHERE owner = $1`, owner)
	return err
}

// Cool is for fleet.State. It also clears away what is over.
func (d *DB) Cool(ctx context.Context, target string, until, now time.Time) error {
	_, err := d.loose.ExecContext(ctx, d.spell(`INSERT INTO bx_cooling AS w (target, until) VALUES ($1, $2) ON CONFLICT (target) DO UPDATE SET until = {greatest}(w.until, excluded.until)`), target, micros(until))
	if err == nil {
		_, err = d.loose.ExecContext(ctx, `DELETE FROM bx_cooling WHERE until < $1`, micros(now))
	}
	return err
}

// Cooling is for fleet.State.
func (d *DB) Cooling(ctx context.Context, now time.Time) (map[string]time.Time, error) {
	rows, err := d.loose.QueryContext(ctx, `SELECT target, until FROM bx_cooling WHERE until > $1`, micros(now))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]time.Time{}
	for rows.Next() {
		var target string
		var until int64
		if err := rows.Scan(&target, &until); err != nil {
			return nil, err
		}
		out[target] = timeOf(until)
	}
	return out, rows.Err()
}

// Prune clears away what is kept no more.
func (d *DB) Prune(ctx context.Context, now time.Time) error {
	_, err := d.loose.ExecContext(ctx, `DELETE FROM bx_kept WHERE at < $1`, micros(now.Add(-fleet.Keep)))
	if err == nil {
		_, err = d.loose.ExecContext(ctx, `DELETE FROM bx_running WHERE until < $1`, micros(now))
	}
	if err == nil {
		_, err = d.loose.ExecContext(ctx, `DELETE FROM bx_rates WHERE at < $1`, micros(now.Add(-fleet.Keep)))
	}
	return err
}
