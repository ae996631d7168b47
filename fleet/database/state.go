package database

import (
	"cmp"
	"context"
	"encoding/json"
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
		RETURNING owner, requests`)
	d.texts.pay = d.spell(row + `tokens = ` + filled("tokens") + ` - (excluded.size_tokens - excluded.tokens), size_tokens = excluded.size_tokens,
		requests = ` + filled("requests") + `, size_requests = excluded.size_requests, at = {greatest}(w.at, excluded.at)`)
}

// errRefused is a visit that is not let in.
var errRefused = errors.New("a rate does not let it in")

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
	if refused := errors.Is(err, errRefused); refused && len(all) > 1 {
		for _, e := range all {
			d.enterAll(ctx, []*entering{e})
		}
		return
	} else if refused {
		all[0].pass, all[0].err = d.refused(ctx, all[0].Rates, all[0].now)
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
	for _, r := range rates {
		if r.Requests > 0 && r.Requests < int64(len(all)) {
			return nil, errRefused
		}
	}
	left = map[string]int64{}
	read := func(from scanner) error {
		var owner string
		var level float64
		err := from.Scan(&owner, &level)
		left[owner] = int64(max(level, 0))
		return err
	}
	steps := d.entry(all, rates, now, read)
	if r := rates[0]; len(rates) == 1 && r.Parallel == 0 {
		steps = []step{{d.texts.take, []any{r.Owner, micros(now), float64(max(r.Requests-int64(len(all)), 0)), float64(r.Requests), float64(r.Tokens), float64(r.Tokens), float64(len(all))}, read}}
	}
	if err = d.runLoose(ctx, steps); err == nil && len(left) == 0 {
		err = errRefused
	}
	return left, err
}

// entry are the steps of a transaction that lets visits in, all or none. The first fill
// the rates and hold their lines, so that nobody else takes or counts meanwhile; the
// first visit that is put down is so only if all rates let all visits in, and the
// others follow it.
func (d *DB) entry(all []*entering, rates []fleet.Rate, now time.Time, read func(scanner) error) (steps []step) {
	var owners []any
	var running []fleet.Rate
	for _, r := range rates {
		steps = append(steps, d.pay(r, 0, now))
		owners = append(owners, r.Owner)
		if r.Parallel > 0 {
			running = append(running, r)
		}
	}
	n := int64(len(all))
	fits := func(v *values) string {
		text := `NOT EXISTS (SELECT 1 FROM bx_rates WHERE owner IN ` + v.put(owners...) + ` AND (size_requests > 0 AND requests < ` + v.as("bigint", n) + ` OR size_tokens > 0 AND tokens < 0.5))`
		for _, r := range running {
			text += ` AND (SELECT count(*) FROM bx_running WHERE owner = ` + v.put(r.Owner) + ` AND until > ` + v.as("bigint", micros(now)) + `) <= ` + v.as("bigint", int64(r.Parallel)-n)
		}
		return text
	}
	for _, r := range running {
		for _, e := range all {
			var v values
			text := `INSERT INTO bx_running (owner, visit, until) SELECT ` + v.as("text", r.Owner) + `, ` + v.as("text", e.ID) + `, ` + v.as("bigint", micros(e.Until)) +
				` WHERE ` + fits(&v) + ` ON CONFLICT (owner, visit) DO UPDATE SET until = excluded.until`
			steps = append(steps, step{text, v, nil})
			fits = func(v *values) string {
				return `EXISTS (SELECT 1 FROM bx_running WHERE owner = ` + v.put(running[0].Owner) + ` AND visit = ` + v.put(all[0].ID) + `)`
			}
		}
	}
	var v values
	text := `UPDATE bx_rates SET requests = requests - CASE WHEN size_requests > 0 THEN ` + v.as("bigint", n) + ` ELSE 0 END WHERE owner IN ` + v.put(owners...) + ` AND ` + fits(&v) + ` RETURNING owner, requests`
	return append(steps, step{text, v, read})
}

// pay takes tokens of a rate, and fills it. 0 fills it alone.
func (d *DB) pay(r fleet.Rate, tokens int64, now time.Time) step {
	return step{d.texts.pay, []any{r.Owner, micros(now), float64(r.Requests), float64(r.Requests), float64(r.Tokens - tokens), float64(r.Tokens)}, nil}
}

// runLoose runs steps in one round trip: one by itself, several in a transaction.
func (d *DB) runLoose(ctx context.Context, steps []step) error {
	switch len(steps) {
	case 0:
		return nil
	case 1:
		return each(ctx, d.loose, steps[0])
	}
	return d.transact(ctx, d.loose, func(t *transaction) error { return t.commit(ctx, steps...) })
}

// refused says which rate lacks what, and for how long.
func (d *DB) refused(ctx context.Context, rates []fleet.Rate, now time.Time) (fleet.Pass, error) {
	for _, r := range rates {
		if r.Requests == 0 && r.Tokens == 0 {
			continue
		}
		var at int64
		var requests, tokens float64
		if err := d.loose.QueryRowContext(ctx, `SELECT at, requests, tokens FROM bx_rates WHERE owner = $1`, r.Owner).Scan(&at, &requests, &tokens); err != nil {
			return fleet.Pass{}, err
		}
		if unit, wait := Short(r, requests, tokens, now.Sub(timeOf(at))); wait > 0 {
			return fleet.Pass{Refused: unit, Owner: r.Owner, Wait: wait}, nil
		}
	}
	for _, r := range rates {
		var n int
		if err := d.loose.QueryRowContext(ctx, `SELECT count(*) FROM bx_running WHERE owner = $1 AND until > $2`, r.Owner, micros(now)).Scan(&n); err != nil {
			return fleet.Pass{}, err
		}
		if r.Parallel > 0 && n >= r.Parallel {
			return fleet.Pass{Refused: "parallel", Owner: r.Owner, Wait: time.Second}, nil
		}
	}
	return fleet.Pass{Refused: "requests", Owner: rates[0].Owner}, nil // there was none a moment ago
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
			steps = append(steps, step{`DELETE FROM bx_running WHERE owner = $1 AND visit = $2`, []any{r.Owner, v.ID}, nil})
		}
		if r.Tokens > 0 && tokens != 0 {
			steps = append(steps, d.pay(r, tokens, now))
		}
	}
	return d.runLoose(ctx, steps)
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
	among, names := d.among(keys)
	rows, err := d.loose.QueryContext(ctx, `SELECT name, value, at FROM bx_kept WHERE owner = $1 AND at > $2 AND name `+among, owner, micros(now.Add(-fleet.Keep)), names)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var old []string
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
	_, names = d.among(old)
	_, err = d.loose.ExecContext(ctx, `UPDATE bx_kept SET at = $2 WHERE owner = $1 AND name `+among, owner, micros(now), names)
	return out, err
}

// among is a condition that a value is one of some, of which $3 has all: a statement
// for lists of every length is prepared once.
func (d *DB) among(all []string) (condition string, list any) {
	if d.pg {
		return "= ANY ($3)", all
	}
	text, _ := json.Marshal(all) // of texts there is always one
	return "IN (SELECT value FROM json_each($3))", string(text)
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
