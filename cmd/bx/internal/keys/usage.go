package keys

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/fleet"
)

// Spender returns the query for what a key and a team have spent, by name or id, even if
// they were deleted; "" is any. of is for Windows: the key, or else the team, or nil.
func (d *Desk) Spender(ctx context.Context, key, team string) (q fleet.Query, of *fleet.Key, err error) {
	if team != "" {
		t, err := d.Team(ctx, team)
		if q.Team = team; err == nil {
			q.Team, of = t.ID, &fleet.Key{Team: t}
		} else if err := d.spent(ctx, q, err); err != nil {
			return q, nil, err
		}
	}
	if key == "" {
		return q, of, nil
	}
	k, err := d.Key(ctx, key)
	if err == nil {
		q.KeyID = k.ID
		return q, k, nil
	}
	byID, byName := q, q
	byID.KeyID, byName.Key = key, key
	if d.spent(ctx, byID, err) == nil {
		return byID, nil, nil
	}
	return byName, nil, d.spent(ctx, byName, err)
}

// spent returns nil if the ledger has any entry for a query, else unknown.
func (d *Desk) spent(ctx context.Context, q fleet.Query, unknown error) error {
	if name := (*NameError)(nil); !errors.As(unknown, &name) {
		return unknown
	}
	q.Limit = 1
	if err := d.Books.Entries(ctx, q, func(fleet.Entry) error { unknown = nil; return nil }); err != nil {
		return err
	}
	return unknown
}

// Windows returns the windows of what Spender returned.
func (d *Desk) Windows(ctx context.Context, of *fleet.Key) ([]fleet.Spent, error) {
	all, err := d.Books.Windows(ctx, of, d.Now())
	return slices.DeleteFunc(all, func(w fleet.Spent) bool { return w.Subject.ID == "" }), err
}

// Bys reads the properties to group requests by: "day,model".
func Bys(text string) (out []fleet.By, err error) {
	if text == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		by := fleet.By(strings.TrimSpace(word))
		if !slices.Contains(fleet.Bys, by) || slices.Contains(out, by) {
			return nil, &InputError{fmt.Errorf("by %q: want some of %s, each once, joined by commas", text, joined(fleet.Bys))}
		}
		out = append(out, by)
	}
	return out, nil
}

func joined[T ~string](words []T) string {
	var out []string
	for _, w := range words {
		out = append(out, string(w))
	}
	return strings.Join(out, ", ")
}

// JSON writes what was spent: one line of JSON for each request or, with by, for each
// group.
func (d *Desk) JSON(ctx context.Context, to io.Writer, q fleet.Query, by []fleet.By) error {
	out := json.NewEncoder(to)
	if len(by) == 0 {
		return d.Books.Entries(ctx, q, func(e fleet.Entry) error { return out.Encode(e) })
	}
	return d.Books.Sums(ctx, q, by, func(s fleet.Sum) error {
		line := map[string]any{"requests": s.Requests, "usage": s.Usage, "amount": s.Amount, "reserved": s.Reserved}
		for i, b := range by {
			line[string(b)] = s.Of[i]
		}
		return out.Encode(line)
	})
}

// CSV writes the same as JSON in CSV, with a header line.
func (d *Desk) CSV(ctx context.Context, to io.Writer, q fleet.Query, by []fleet.By) error {
	out := csv.NewWriter(to)
	n := func(i int64) string { return strconv.FormatInt(i, 10) }
	counts := func(u utp.Usage) []string {
		return []string{n(int64(u.Input)), n(int64(u.CacheRead)), n(int64(u.CacheWrite)), n(int64(u.Output)), n(int64(u.Reasoning))}
	}
	counted := []string{"input", "cache_read", "cache_write", "output", "reasoning", "tokens", "money"}
	var err error
	if len(by) == 0 {
		err = out.Write(slices.Concat([]string{"time", "key", "key_id", "team", "request", "backend", "model", "ending", "late"}, counted, []string{"most_tokens", "most_money", "price_dated"}))
		err = errors.Join(err, d.Books.Entries(ctx, q, func(e fleet.Entry) error {
			return out.Write(slices.Concat([]string{e.At.Format(time.RFC3339Nano), e.Key, e.KeyID, e.Team, e.Request, e.Backend, e.Model, string(e.Ending), strconv.FormatBool(e.Late)},
				counts(e.Usage), []string{n(e.Amount.Tokens), e.Amount.Money.String(), n(e.Most.Tokens), e.Most.Money.String(), e.Dated}))
		}))
	} else {
		var names []string
		for _, b := range by {
			names = append(names, string(b))
		}
		err = out.Write(slices.Concat(names, []string{"requests"}, counted, []string{"reserved_tokens", "reserved_money"}))
		err = errors.Join(err, d.Books.Sums(ctx, q, by, func(s fleet.Sum) error {
			return out.Write(slices.Concat(s.Of, []string{n(s.Requests)}, counts(s.Usage), []string{n(s.Amount.Tokens), s.Amount.Money.String(), n(s.Reserved.Tokens), s.Reserved.Money.String()}))
		}))
	}
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// Audit calls each with the changes in a range of time, to one key or team by name or
// id, or to all. A zero time is no bound.
func (d *Desk) Audit(ctx context.Context, of string, since, before time.Time, each func(fleet.Act) error) error {
	return d.Books.Audit(ctx, func(a fleet.Act) error {
		switch {
		case of != "" && a.On != of && a.How != of && !strings.HasPrefix(a.How, of+", "),
			a.At.Before(since), !before.IsZero() && !a.At.Before(before):
			return nil
		}
		return each(a)
	})
}
