package dash_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
)

// memory is a source of replies that were made up.
type memory struct {
	rows    []dash.Row // the latest first
	more    []dash.Row // that come while somebody listens
	content map[string]dash.Content
}

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func (m *memory) fit(f dash.Filter) (out []dash.Row) {
	for _, r := range m.rows {
		if at := time.UnixMilli(r.Time); (f.Since.IsZero() || at.After(f.Since)) && (f.Model == "" || f.Model == r.Model) && (f.Outcome == "" || f.Outcome == r.Outcome) {
			out = append(out, r)
		}
	}
	return out
}

func (m *memory) Overview(_ context.Context, f dash.Filter) (*dash.Overview, error) {
	o := &dash.Overview{Total: dash.Tally{}, Starts: []int64{f.Until.Unix()}, Width: 3600, Names: []string{}}
	for _, r := range m.fit(f) {
		o.Total.Replies++
		if !slices.Contains(o.Names, r.Model) {
			o.Names = append(o.Names, r.Model)
		}
	}
	return o, nil
}

func (m *memory) Replies(_ context.Context, f dash.Filter, from, n int) (*dash.List, error) {
	rows := m.fit(f)
	return &dash.List{Total: len(rows), From: from, Rows: rows[min(from, len(rows)):min(from+n, len(rows))]}, nil
}

func (m *memory) Reply(_ context.Context, id string) (*dash.Reply, error) {
	for _, r := range m.rows {
		if r.ID != id {
			continue
		}
		out := &dash.Reply{Row: r}
		if c, ok := m.content[id]; ok {
			out.Content = &c
		}
		return out, nil
	}
	return nil, fmt.Errorf("%q: %w", id, dash.ErrNone)
}

func (m *memory) Since(_ context.Context, place string, n int) ([]dash.Row, string, error) {
	if place == "" {
		return nil, "0", nil
	}
	from, err := strconv.Atoi(place)
	rows := m.more[min(from, len(m.more)):min(from+n, len(m.more))]
	return rows, strconv.Itoa(from + len(rows)), err
}
