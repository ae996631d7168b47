package database

import (
	"context"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp/fleet"
)

// selected is the condition that a query puts to entries.
func selected(q fleet.Query) (where string, v values) {
	one := func(a any) string { return strings.Trim(v.put(a), "()") }
	where = ` WHERE at >= ` + one(micros(q.Since))
	if !q.Before.IsZero() {
		where += ` AND at < ` + one(micros(q.Before))
	}
	if q.KeyID != "" {
		where += ` AND key_id = ` + one(q.KeyID)
	}
	if q.Key != "" {
		where += ` AND key_name = ` + one(plain(q.Key))
	}
	if q.Team != "" {
		of := one(plain(q.Team))
		where += ` AND (team_id = ` + of + ` OR team_name = ` + of + `)`
	}
	if q.Model != "" {
		where += ` AND lower(model) LIKE ` + one(like(strings.ToLower(plain(q.Model)))) + ` ESCAPE '\'`
	}
	if len(q.Endings) > 0 {
		where += ` AND ending IN ` + v.put(anys(q.Endings)...)
	}
	return where, v
}

// like is a glob as SQL's LIKE has it.
func like(glob string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`, `*`, `%`, `?`, `_`).Replace(glob)
}

// column is what entries are added up by.
func (d *DB) column(by fleet.By) (string, error) {
	switch by {
	case fleet.ByKey, fleet.ByTeam:
		return string(by) + "_name", nil
	case fleet.ByModel, fleet.ByBackend, fleet.ByEnding:
		return string(by), nil
	case fleet.ByDay:
		return d.date("%Y-%m-%d", "YYYY-MM-DD"), nil
	case fleet.ByMonth:
		return d.date("%Y-%m", "YYYY-MM"), nil
	}
	return "", fmt.Errorf("by %q: want some of %v", by, fleet.Bys)
}

// date is the time of an entry in UTC, written as strftime or to_char does.
func (d *DB) date(strftime, toChar string) string {
	if d.pg {
		return `to_char(to_timestamp(at / 1000000) AT TIME ZONE 'UTC', '` + toChar + `')`
	}
	return `strftime('` + strftime + `', at / 1000000, 'unixepoch')`
}

// Sums is for fleet.Books.
func (d *DB) Sums(ctx context.Context, q fleet.Query, by []fleet.By, each func(fleet.Sum) error) error {
	var columns []string
	for _, b := range by {
		c, err := d.column(b)
		if err != nil {
			return err
		}
		columns = append(columns, c)
	}
	where, v := selected(q)
	text := `SELECT `
	for _, c := range columns {
		text += c + `, `
	}
	text += `count(*)`
	for _, c := range []string{"input", "cache_read", "cache_write", "output", "reasoning", "requests", "tokens", "money"} {
		text += `, CAST(coalesce(sum(` + c + `), 0) AS bigint)`
	}
	for _, c := range []string{"most_requests", "most_tokens", "most_money"} {
		text += `, CAST(coalesce(sum(CASE WHEN ending = 'open' THEN ` + c + ` ELSE 0 END), 0) AS bigint)`
	}
	text += ` FROM bx_entries` + where
	if list := strings.Join(columns, ", "); list != "" {
		text += ` GROUP BY ` + list + ` ORDER BY ` + list
	}
	rows, err := d.safe.QueryContext(ctx, text, v...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		s := fleet.Sum{Of: make([]string, len(by))}
		var to []any
		for i := range s.Of {
			to = append(to, &s.Of[i])
		}
		u, a, r := &s.Usage, &s.Amount, &s.Reserved
		if err := rows.Scan(append(to, &s.Requests, &u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.Reasoning, &a.Requests, &a.Tokens, &a.Money, &r.Requests, &r.Tokens, &r.Money)...); err != nil {
			return err
		}
		if err := each(s); err != nil {
			return err
		}
	}
	return rows.Err()
}

// anys are arguments of a statement.
func anys[T ~string](of []T) (out []any) {
	for _, t := range of {
		out = append(out, string(t))
	}
	return out
}
