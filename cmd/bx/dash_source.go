package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/stats"
	"github.com/unifiedtoolprotocol/utp/cmd/internal/dirs"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

// figures give the dashboard what the segments on this machine hold.
type figures struct {
	x       *stats.Index
	events  string // the folders of the segments
	content string
	price   stats.Price

	mu    sync.Mutex
	taken string // what the segments were when the index took them
}

// noContent is shown where the text of a reply is not known.
const noContent = `What models write is not kept unless you say so. content = true in [stats] of bx.toml keeps it, redacted, on this machine, for 7 days; so does content = true at the top, in a route or in a client of serve.toml.`

// figures opens them; absent says why there are none.
func (j *job) figures(ctx context.Context) (f *figures, absent string, err error) {
	switch {
	case !j.set.Telemetry || !dirs.Tracked():
		return nil, "No figures are kept here: telemetry = false in bx.toml, or DO_NOT_TRACK, switched that off.", nil
	case dirs.Data() == "" || dirs.Cache() == "":
		return nil, "There is no home directory, so that nothing is kept.", nil
	}
	x, err := stats.Open(ctx, filepath.Join(dirs.Cache(), "stats.db"), dirs.Events())
	if err != nil {
		return nil, "", err
	}
	return &figures{x: x, events: dirs.Events(), content: dirs.Content(), price: pricesOf(j.set.Prices)}, "", nil
}

func (f *figures) close() {
	if f != nil {
		_ = f.x.Close()
	}
}

// sync takes what is new in the segments, if anything is.
func (f *figures) sync(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := journal.List(f.events)
	if err != nil {
		return err
	}
	if now := fmt.Sprint(all); now != f.taken {
		if _, err := f.x.Sync(ctx); err != nil {
			return err
		}
		f.taken = now
	}
	return nil
}

// width is how many hours a column of a drawing has.
func width(span time.Duration) int64 {
	for _, w := range []struct {
		upTo  time.Duration
		hours int64
	}{{48 * time.Hour, 1}, {8 * 24 * time.Hour, 6}, {31 * 24 * time.Hour, 24}} {
		if span <= w.upTo {
			return w.hours
		}
	}
	return 72
}

// of is the index that answers for a filter, and the seconds that it counts
// together: of an hour or less one in memory, by the minute.
func (f *figures) of(ctx context.Context, of dash.Filter) (x *stats.Index, unit int64, err error) {
	if of.Until.Sub(of.Since) > time.Hour {
		return f.x, 3600, nil
	}
	x, err = f.x.Recent(ctx, of.Since, of.Until)
	return x, 60, err
}

// Overview is for dash.Source.
func (f *figures) Overview(ctx context.Context, of dash.Filter) (*dash.Overview, error) {
	if err := f.sync(ctx); err != nil {
		return nil, err
	}
	x, unit, err := f.of(ctx, of)
	if err != nil {
		return nil, err
	}
	if x != f.x {
		defer func() { _ = x.Close() }()
	}
	hours := width(of.Until.Sub(of.Since))
	all := stats.Filter{Since: of.Since, Until: of.Until}
	spans, err := x.Spans(ctx, all, hours)
	if err != nil {
		return nil, err
	}
	o := &dash.Overview{Width: hours * unit, Names: []string{}}
	first, last := of.Since.Unix()/unit/hours, of.Until.Unix()/unit/hours
	for at := first; at <= last; at++ {
		o.Starts = append(o.Starts, at*hours*unit)
	}
	by := map[string]*dash.Series{}
	for _, s := range spans {
		if !slices.Contains(o.Names, s.Model) {
			o.Names = append(o.Names, s.Model)
		}
		if of.Model == "" || s.Model == of.Model {
			f.count(o, by, s, int(s.Start/hours-first))
		}
	}
	for _, s := range by {
		f.finish(&s.Total, s.Name)
		if s.Total.Cost != nil {
			o.Total.Cost = add(o.Total.Cost, *s.Total.Cost)
		}
		o.Models = append(o.Models, *s)
	}
	share(&o.Total)
	slices.Sort(o.Names)
	slices.SortFunc(o.Models, func(a, b dash.Series) int {
		return cmp.Or(b.Total.Replies-a.Total.Replies, cmp.Compare(a.Name, b.Name))
	})
	all.Model = of.Model
	return o, f.lists(ctx, x, o, all)
}

func add(to *float64, money float64) *float64 {
	if to != nil {
		money += *to
	}
	return &money
}

// count adds a span to its model and to the sum.
func (f *figures) count(o *dash.Overview, by map[string]*dash.Series, s stats.Span, at int) {
	n := len(o.Starts)
	if by[s.Model] == nil {
		by[s.Model] = &dash.Series{Name: s.Model, Good: make([]int, n), Bad: make([]int, n), In: make([]int, n), Out: make([]int, n)}
	}
	m := by[s.Model]
	if at >= 0 && at < n {
		m.Good[at], m.Bad[at], m.In[at], m.Out[at] = s.Good, s.Bad, s.Input, s.Output
	}
	for _, t := range []*dash.Tally{&m.Total, &o.Total} {
		t.Replies, t.Good, t.Bad, t.Silent, t.Uncounted = t.Replies+s.Replies, t.Good+s.Good, t.Bad+s.Bad, t.Silent+s.Silent, t.Uncounted+s.Uncounted
		t.Calls, t.Fixes, t.In, t.Cached, t.Out, t.Took = t.Calls+s.Calls, t.Fixes+s.Fixes, t.In+s.Input, t.Cached+s.Cached, t.Out+s.Output, t.Took+s.Spent.Microseconds()
	}
}

// finish makes the interval and the money of a model.
func (f *figures) finish(t *dash.Tally, model string) {
	share(t)
	if money, known := f.price(model, t.In, t.Cached, t.Out); known {
		t.Cost = &money
	}
}

func share(t *dash.Tally) {
	i := record.Share{Good: float64(t.Good), Of: float64(t.Good + t.Bad)}.Interval()
	t.Low, t.High = i.Low, i.High
}

// lists adds what is counted by a word, and the tools.
func (f *figures) lists(ctx context.Context, x *stats.Index, o *dash.Overview, of stats.Filter) error {
	for kind, to := range map[string]*[]dash.Count{stats.Fixes: &o.Fixes, stats.Problems: &o.Problems, stats.Losses: &o.Losses, stats.Invented: &o.Invented} {
		words, err := x.Words(ctx, kind, of)
		if err != nil {
			return err
		}
		*to = counted(words)
	}
	calls, err := x.Calls(ctx, of)
	if err != nil {
		return err
	}
	for _, c := range calls {
		o.Dialects = append(o.Dialects, dash.Count{Name: cmp.Or(c.Dialect, record.FormNative), Count: c.Count, Bad: c.Bad})
	}
	forms, err := x.Rows(ctx, stats.ByForm, of, f.price)
	if err != nil {
		return err
	}
	for _, r := range forms {
		o.Forms = append(o.Forms, dash.Count{Name: cmp.Or(r.Key, record.FormNone), Count: r.Replies, Bad: r.Bad})
	}
	runs, err := x.Runs(ctx, of)
	for _, r := range runs {
		o.Tools = append(o.Tools, dash.Tool{Name: r.Name, Calls: r.Runs, Failed: r.Failed, Refused: r.Refused, Mean: (r.Took / time.Duration(r.Runs)).Microseconds(), P50: r.P50.Microseconds(), P95: r.P95.Microseconds(), Spent: r.Took.Microseconds()})
	}
	return err
}

// counted adds up words over the models.
func counted(words []stats.Word) (out []dash.Count) {
	for _, w := range words {
		i := slices.IndexFunc(out, func(c dash.Count) bool { return c.Name == w.Word })
		if i < 0 {
			i, out = len(out), append(out, dash.Count{Name: w.Word})
		}
		out[i].Count += w.Count
	}
	slices.SortStableFunc(out, func(a, b dash.Count) int { return b.Count - a.Count })
	return out
}

// Replies is for dash.Source.
func (f *figures) Replies(ctx context.Context, of dash.Filter, from, n int) (*dash.List, error) {
	if err := f.sync(ctx); err != nil {
		return nil, err
	}
	x, _, err := f.of(ctx, of)
	if err != nil {
		return nil, err
	}
	if x != f.x {
		defer func() { _ = x.Close() }()
	}
	page, total, err := x.Page(ctx, stats.Filter{Since: of.Since, Until: of.Until, Model: of.Model}, record.Outcome(of.Outcome), from, n)
	return &dash.List{Total: total, From: from, Rows: rowsOf(page)}, err
}

func rowsOf(seen []stats.Seen) (rows []dash.Row) {
	for _, s := range seen {
		rows = append(rows, rowOf(s))
	}
	return rows
}

// bySeq begins the id of a reply that has none of its own.
const bySeq = "seq:"

func rowOf(s stats.Seen) dash.Row {
	r := &s.Reply
	_, why := record.Judge(r)
	out := dash.Row{ID: cmp.Or(r.ID, bySeq+strconv.FormatInt(s.Seq, 10)), Time: r.Time.UnixMilli(), By: r.By, Client: r.Client, Model: r.Model(), Backend: r.Backend, Form: r.Form,
		Outcome: string(s.Outcome), Why: why, Status: r.Status, Took: int64(r.Took), First: int64(r.First), In: r.Usage.Prompt(), Out: r.Usage.Completion(),
		Calls: len(r.Calls), Problems: len(r.Problems)}
	for _, c := range r.Calls {
		out.Fixes += len(c.Fixes)
		if !slices.Contains(out.Names, c.Name) {
			out.Names = append(out.Names, c.Name)
		}
		if !slices.Contains(out.Dialects, c.Source) {
			out.Dialects = append(out.Dialects, c.Source)
		}
	}
	for _, l := range r.Losses {
		out.Losses += l.Count
	}
	return out
}

// Reply is for dash.Source.
func (f *figures) Reply(ctx context.Context, id string) (*dash.Reply, error) {
	if err := f.sync(ctx); err != nil {
		return nil, err
	}
	s, found, err := f.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("%q: %w", id, dash.ErrNone)
	}
	out := replyOf(s)
	out.Nothing = noContent
	c, err := f.written(s.Reply)
	if err != nil || c == nil {
		return out, err
	}
	out.Content = &dash.Content{Request: c.Request, Raw: c.Raw, Cut: c.Cut}
	return out, nil
}

func (f *figures) find(ctx context.Context, id string) (s stats.Seen, found bool, err error) {
	digits, ok := strings.CutPrefix(id, bySeq)
	switch {
	case id == "":
		return s, false, nil
	case !ok:
		return f.x.Reply(ctx, id)
	}
	seq, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return s, false, nil // nobody has such an id
	}
	list, _, err := f.x.After(ctx, seq-1, 1)
	if err != nil || len(list) == 0 || list[0].Seq != seq {
		return s, false, err
	}
	return list[0], true, nil
}

func replyOf(s stats.Seen) *dash.Reply {
	r := &s.Reply
	out := &dash.Reply{Row: rowOf(s), API: r.API, Speaks: r.Speaks, Asked: r.Asked, Answer: r.Answered, FormWhy: r.Why, Trial: r.Trial, Stream: r.Stream, Offered: r.Tools,
		Stop: string(r.Stop), Reason: r.Reason, Tries: r.Tries, Again: r.Again}
	for _, c := range r.Calls {
		out.Made = append(out.Made, dash.MadeCall{Name: c.Name, Source: c.Source, Fixes: c.Fixes, Guessed: c.Guessed, Invented: c.Hallucinated, Invalid: c.Invalid,
			Refusal: c.Refusal, Outcome: string(c.Outcome), Took: int64(c.Took)})
	}
	for _, p := range r.Problems {
		out.Broken = append(out.Broken, dash.BrokenCall{Kind: string(p.Kind), Name: p.Name, Dialect: p.Dialect, Why: p.Why})
	}
	for _, l := range r.Losses {
		out.Lost = append(out.Lost, dash.Count{Name: l.What, Count: l.Count})
	}
	return out
}

// written finds what was kept of a reply's text: in a segment of its day, or of
// the next.
func (f *figures) written(r record.Reply) (c *record.Content, err error) {
	if r.ID == "" {
		return nil, nil
	}
	all, err := journal.List(f.content)
	if err != nil {
		return nil, err
	}
	days := []string{r.Time.UTC().Format(time.DateOnly), r.Time.UTC().AddDate(0, 0, 1).Format(time.DateOnly)}
	for _, s := range all {
		if !slices.Contains(days, s.Day) || c != nil {
			continue
		}
		if _, _, err := journal.Read(f.content, s.Name, 0, func(_ int64, e record.Event) bool {
			if found, ok := e.(record.Content); ok && found.ID == r.ID {
				c = &found
			}
			return c == nil
		}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Since is for dash.Source.
func (f *figures) Since(ctx context.Context, place string, n int) (rows []dash.Row, next string, err error) {
	if err := f.sync(ctx); err != nil {
		return nil, place, err
	}
	if place == "" {
		last, err := f.x.Last(ctx)
		return nil, strconv.FormatInt(last, 10), err
	}
	seq, err := strconv.ParseInt(place, 10, 64)
	if err != nil {
		return nil, place, err
	}
	seen, last, err := f.x.After(ctx, seq, n)
	return rowsOf(seen), strconv.FormatInt(last, 10), err
}

var _ dash.Source = (*figures)(nil)
