package stats

import (
	"context"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/record"
)

// Span is what a model did in some hours that follow each other.
type Span struct {
	Model string
	Start int64 // its first hour, counted since 1970
	Row         // without Key, Range and Days
	Spent time.Duration
}

// Spans are the sums of each model in each span of so many hours.
func (x *Index) Spans(ctx context.Context, f Filter, hours int64) (out []Span, err error) {
	where, args := x.where(f)
	type key struct {
		model string
		start int64
	}
	made := map[key]*sums{}
	q := "SELECT model, hour / ? * ?, outcome, dialect, sum(replies), sum(calls), sum(fixes), sum(again), sum(failed), sum(input), sum(cached), sum(output), sum(took) FROM hours WHERE " +
		where + " GROUP BY 1, 2, 3, 4"
	err = x.each(ctx, q, append([]any{hours, hours}, args...), func(scan func(...any) error) error {
		var k key
		var outcome, dialect string
		var n hourSum
		if err := scan(&k.model, &k.start, &outcome, &dialect, &n.replies, &n.calls, &n.fixes, &n.again, &n.failed, &n.input, &n.cached, &n.output, &n.took); err != nil {
			return err
		}
		sumOf(&made, k).add(record.Outcome(outcome), dialect, "", n)
		return nil
	})
	for k, s := range made {
		out = append(out, Span{Model: k.model, Start: k.start, Row: s.Row, Spent: record.Micros(s.took).Duration()})
	}
	return out, err
}

// Calls are the calls of a dialect; those in the provider's own field have none.
type Calls struct {
	Dialect string
	Count   int
	Bad     int // of Count
}

// Calls lists the dialects of calls, the most frequent first.
func (x *Index) Calls(ctx context.Context, f Filter) (out []Calls, err error) {
	where, args := x.where(f)
	err = x.each(ctx, "SELECT dialect, sum(good + bad), sum(bad) FROM tools WHERE "+where+" GROUP BY 1 ORDER BY 2 DESC, 1", args, func(scan func(...any) error) error {
		var c Calls
		err := scan(&c.Dialect, &c.Count, &c.Bad)
		out = append(out, c)
		return err
	})
	return out, err
}

// Run is what bx's own runs of a tool took.
type Run struct {
	Name    string
	Runs    int
	Failed  int
	Refused int
	Took    time.Duration // all together
	P50     time.Duration // half of the runs took at most so long, to a tenth
	P95     time.Duration // 95 % of the runs
}

// Runs lists the tools that bx ran itself, the slowest on average first.
func (x *Index) Runs(ctx context.Context, f Filter) (out []Run, err error) {
	where, args := x.where(f)
	err = x.each(ctx, "SELECT name, sum(ran), sum(failed), sum(refused), sum(took) FROM tools WHERE "+where+" GROUP BY 1 HAVING sum(ran) > 0 ORDER BY sum(took) / sum(ran) DESC, 1", args, func(scan func(...any) error) error {
		var r Run
		var took int64
		err := scan(&r.Name, &r.Runs, &r.Failed, &r.Refused, &took)
		r.Took = record.Micros(took).Duration()
		out = append(out, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	times := map[string][][2]int{}
	err = x.each(ctx, "SELECT name, bucket, sum(n) FROM runs WHERE "+where+" GROUP BY 1, 2 ORDER BY 1, 2", args, func(scan func(...any) error) error {
		var name string
		var one [2]int
		err := scan(&name, &one[0], &one[1])
		times[name] = append(times[name], one)
		return err
	})
	for i := range out {
		r := &out[i]
		r.P50, r.P95 = percentile(times[r.Name], 0.5), percentile(times[r.Name], 0.95)
	}
	return out, err
}

// percentile is the time that a part of the runs at most took, which are counted by
// bucket in their order.
func percentile(counts [][2]int, part float64) time.Duration {
	all, upTo := 0, 0
	for _, c := range counts {
		all += c[1]
	}
	for _, c := range counts {
		if upTo += c[1]; float64(upTo) >= part*float64(all) {
			return midOf(c[0])
		}
	}
	return 0
}

// After lists at most n replies that came into the index after a number, in
// their order. last is the number to go on from.
func (x *Index) After(ctx context.Context, seq int64, n int) (out []Seen, last int64, err error) {
	last = seq
	err = x.each(ctx, "SELECT seq, outcome, line FROM replies WHERE seq > ? ORDER BY seq LIMIT ?", []any{seq, n}, func(scan func(...any) error) error {
		s, err := seen(scan)
		out, last = append(out, s), s.Seq
		return err
	})
	return out, last, err
}

// Last is the number of the reply that came last; 0: there is none.
func (x *Index) Last(ctx context.Context) (seq int64, err error) {
	err = x.db.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM replies").Scan(&seq)
	return seq, err
}

// Page gives n of the replies that a filter lets through, the latest first, from
// the from-th on, and how many there are. An outcome of "" is any. The sums of
// hours say in which hour a place is, so that only the replies of that hour are
// passed over; Since counts from the beginning of its hour.
func (x *Index) Page(ctx context.Context, f Filter, outcome record.Outcome, from, n int) (out []Seen, total int, err error) {
	only, vals := "", []any{}
	if f.Model != "" {
		only, vals = only+" AND model = ?", append(vals, f.Model)
	}
	if outcome != "" {
		only, vals = only+" AND outcome = ?", append(vals, string(outcome))
	}
	var late int // came behind Until
	if err := x.db.QueryRowContext(ctx, "SELECT count(*) FROM replies WHERE time > ?"+only, append([]any{f.Until.UnixMicro()}, vals...)...).Scan(&late); err != nil {
		return nil, 0, err
	}
	place, before, at := from+late, 0, int64(-1)
	q := "SELECT hour, sum(replies) FROM hours WHERE hour >= ?" + only + " GROUP BY hour ORDER BY hour DESC"
	err = x.each(ctx, q, append([]any{x.hour(f.Since)}, vals...), func(scan func(...any) error) error {
		var h int64
		var count int
		if err := scan(&h, &count); err != nil {
			return err
		}
		if at < 0 && place < total+count {
			at, before = h, total
		}
		total += count
		return nil
	})
	if err != nil || at < 0 {
		return nil, max(0, total-late), err
	}
	err = x.each(ctx, pageQuery+strings.ReplaceAll(only, "model", "+model")+" ORDER BY time DESC, seq DESC LIMIT ? OFFSET ?",
		append(append([]any{(at + 1) * x.unit * micro, x.hour(f.Since) * x.unit * micro}, vals...), n, place-before), func(scan func(...any) error) error {
			s, err := seen(scan)
			out = append(out, s)
			return err
		})
	return out, max(0, total-late), err
}

const (
	pageQuery = "SELECT seq, outcome, line FROM replies WHERE time < ? AND time >= ?"
	micro     = 1e6
)
