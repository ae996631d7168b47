package dash_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
)

// memory is a source of replies that were made up.
type memory struct {
	mu      sync.Mutex
	rows    []dash.Row // the latest first
	more    []dash.Row // that come while somebody listens
	replies map[string]dash.Reply
	extra   dash.Overview // what no row says

	asked dash.Filter // last, and what fitted
	found []dash.Row
	of    int
}

var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func (m *memory) fit(f dash.Filter) (out []dash.Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f == m.asked && m.of == len(m.rows) {
		return m.found
	}
	for _, r := range m.rows {
		if at := time.UnixMilli(r.Time); (f.Since.IsZero() || at.After(f.Since)) && !at.After(f.Until) && (f.Model == "" || f.Model == r.Model) && (f.Outcome == "" || f.Outcome == r.Outcome) {
			out = append(out, r)
		}
	}
	m.asked, m.found, m.of = f, out, len(m.rows)
	return out
}

const buckets = 28

func (m *memory) Overview(_ context.Context, f dash.Filter) (*dash.Overview, error) {
	o := m.extra
	since := f.Since
	if since.IsZero() {
		since = f.Until.Add(-7 * 24 * time.Hour)
	}
	o.Width = int64(f.Until.Sub(since).Seconds()) / buckets
	for i := range buckets {
		o.Starts = append(o.Starts, since.Unix()+int64(i)*o.Width)
	}
	by, dialects, forms := map[string]*dash.Series{}, map[string]*dash.Count{}, map[string]*dash.Count{}
	count := func(of map[string]*dash.Count, name string, bad bool) {
		if of[name] == nil {
			of[name] = &dash.Count{Name: name}
		}
		if of[name].Count++; bad {
			of[name].Bad++
		}
	}
	for _, r := range m.fit(f) {
		s := by[r.Model]
		if s == nil {
			s = &dash.Series{Name: r.Model, Good: make([]int, buckets), Bad: make([]int, buckets), In: make([]int, buckets), Out: make([]int, buckets)}
			by[r.Model] = s
		}
		at := int(min(max((r.Time/1000-o.Starts[0])/o.Width, 0), buckets-1))
		s.In[at], s.Out[at] = s.In[at]+r.In, s.Out[at]+r.Out
		switch r.Outcome {
		case "good":
			s.Good[at]++
		case "bad":
			s.Bad[at]++
		}
		tally(&s.Total, r)
		tally(&o.Total, r)
		for _, d := range r.Dialects {
			count(dialects, d, r.Outcome == "bad")
		}
		count(forms, r.Form, false)
	}
	for _, s := range by {
		share(&s.Total)
		o.Models, o.Names = append(o.Models, *s), append(o.Names, s.Name)
	}
	slices.SortFunc(o.Models, func(a, b dash.Series) int {
		return cmp.Or(b.Total.Replies-a.Total.Replies, cmp.Compare(a.Name, b.Name))
	})
	slices.Sort(o.Names)
	share(&o.Total)
	o.Dialects, o.Forms = counts(dialects), counts(forms)
	return &o, nil
}

func tally(t *dash.Tally, r dash.Row) {
	t.Replies, t.Calls, t.In, t.Out, t.Took = t.Replies+1, t.Calls+r.Calls, t.In+r.In, t.Out+r.Out, t.Took+r.Took
	t.Fixes += r.Fixes
	switch r.Outcome {
	case "good":
		t.Good++
	case "bad":
		t.Bad++
	case "silent":
		t.Silent++
	default:
		t.Uncounted++
	}
}

func share(t *dash.Tally) {
	if n := t.Good + t.Bad; n > 0 {
		p := float64(t.Good) / float64(n)
		t.Low, t.High = max(0, p-0.02), min(1, p+0.015)
	}
}

func counts(of map[string]*dash.Count) []dash.Count {
	var out []dash.Count
	for _, c := range of {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b dash.Count) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Name, b.Name)) })
	return out
}

func (m *memory) Replies(_ context.Context, f dash.Filter, from, n int) (*dash.List, error) {
	rows := m.fit(f)
	return &dash.List{Total: len(rows), From: from, Rows: rows[min(from, len(rows)):min(from+n, len(rows))]}, nil
}

func (m *memory) Reply(_ context.Context, id string) (*dash.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.replies[id]; ok {
		return &r, nil
	}
	for _, r := range m.rows {
		if r.ID == id {
			return &dash.Reply{Row: r, Nothing: "The text of replies is not kept. [telemetry] content = true in bx.toml keeps it, on this machine, for 7 days."}, nil
		}
	}
	return nil, fmt.Errorf("%q: %w", id, dash.ErrNone)
}

func (m *memory) Since(_ context.Context, place string, n int) ([]dash.Row, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if place == "" {
		return nil, "0", nil
	}
	from, err := strconv.Atoi(place)
	rows := m.more[min(from, len(m.more)):min(from+n, len(m.more))]
	return rows, strconv.Itoa(from + len(rows)), err
}

// arrive adds a reply, as if it had just come.
func (m *memory) arrive(r dash.Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rows, m.more = append([]dash.Row{r}, m.rows...), append(m.more, r)
}

// busy is a source of n replies over a week, by four models of different skill.
func busy(n int, until time.Time) *memory {
	r := rand.New(rand.NewPCG(3, 4))
	m := &memory{replies: map[string]dash.Reply{}, extra: dash.Overview{
		Fixes:    []dash.Count{{Name: "unquoted key", Count: 310}, {Name: "trailing comma", Count: 212}, {Name: "a number is wanted", Count: 90}, {Name: "missing closer", Count: 44}},
		Problems: []dash.Count{{Name: "malformed", Count: 61}, {Name: "truncated", Count: 33}, {Name: "unknown_tool", Count: 12}},
		Losses:   []dash.Count{{Name: "logprobs", Count: 40}, {Name: "cache_control", Count: 22}},
		Invented: []dash.Count{{Name: "search_web", Count: 7}, {Name: "open_browser", Count: 5}},
		Tools: []dash.Tool{{Name: "shell", Calls: 220, Failed: 12, Refused: 31, Mean: 1_820_000, P50: 640_000, P95: 9_100_000, Spent: 400_400_000},
			{Name: "search_code", Calls: 910, Mean: 84_000, P50: 71_000, P95: 190_000, Spent: 76_440_000}, {Name: "read_file", Calls: 1820, Failed: 3, Mean: 1200, P50: 900, P95: 3100, Spent: 2_184_000}},
	}}
	cost := 3.42
	m.extra.Total.Cost, m.extra.Total.Cached = &cost, n*900
	models := []struct {
		name, form, dialect string
		share, bad          float64
	}{{"qwen3-coder:30b", "native", "qwen3-coder", 0.4, 0.02}, {"gpt-oss:20b", "native", "native", 0.3, 0.05}, {"llama3.1:8b", "hermes", "hermes", 0.2, 0.11}, {"claude-sonnet-5", "native", "native", 0.1, 0.01}}
	step := 160 * time.Hour / time.Duration(n+1)
	for i := range n {
		at := r.Float64()
		k := 0
		for at > models[k].share && k < len(models)-1 {
			at -= models[k].share
			k++
		}
		row := dash.Row{ID: fmt.Sprintf("r%06d", i), Time: until.Add(-time.Duration(i+1) * step).UnixMilli(), By: "serve", Client: "alice", Backend: "box", Model: models[k].name,
			Form: models[k].form, Dialects: []string{models[k].dialect}, Names: []string{"search_code", "read_file"}[:1+r.IntN(2)], Outcome: "good", Status: 200,
			Took: 200_000 + r.Int64N(9_000_000), First: 180_000, In: 900 + r.IntN(9000), Out: r.IntN(900)}
		row.Calls = len(row.Names)
		switch x := r.Float64(); {
		case x < models[k].bad:
			row.Outcome, row.Why, row.Problems = "bad", "malformed", 1
		case x < models[k].bad+0.08:
			row.Outcome, row.Calls, row.Names, row.Dialects = "silent", 0, nil, nil
		case x < models[k].bad+0.16:
			row.Fixes = 2
		case x < models[k].bad+0.165:
			row.Status, row.Outcome = 502, "uncounted"
		}
		m.rows = append(m.rows, row)
	}
	return m
}
