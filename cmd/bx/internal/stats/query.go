package stats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/record"
)

// Filter says what counts. Empty fields say nothing.
type Filter struct {
	Since, Until time.Time // whole hours
	Model        string
}

// where is the condition of a filter, on a table with hours.
func (x *Index) where(f Filter) (condition string, args []any) {
	all := []string{"1"}
	add := func(c string, v any) { all, args = append(all, c), append(args, v) }
	if !f.Since.IsZero() {
		add("hour >= ?", x.hour(f.Since))
	}
	if !f.Until.IsZero() {
		add("hour <= ?", x.hour(f.Until))
	}
	if f.Model != "" {
		add("model = ?", f.Model)
	}
	return strings.Join(all, " AND "), args
}

// By is what figures are told apart by.
type By string

// What figures can be told apart by. Of a tool the unit is a call, of all others
// a reply.
const (
	ByModel   By = "model" // and form
	ByForm    By = "form"
	ByDialect By = "dialect"
	ByTool    By = "tool"
	ByClient  By = "client"
	ByBackend By = "backend"
	ByDay     By = "day"
)

// Bys lists them.
func Bys() []By { return []By{ByModel, ByForm, ByDialect, ByTool, ByClient, ByBackend, ByDay} }

// Row are the figures of one value.
type Row struct {
	Key  string `json:"key"`
	Form string `json:"form,omitempty"` // with ByModel

	Replies   int `json:"replies"` // of a tool, calls
	Good      int `json:"good"`
	Bad       int `json:"bad"`
	Silent    int `json:"silent,omitempty"`    // offered tools, and neither called nor went wrong
	Uncounted int `json:"uncounted,omitempty"` // without tools, or without a reply

	Success record.Share    `json:"-"`
	Range   record.Interval `json:"range"`  // in which the true share of good ones lies, with 95 %
	Called  float64         `json:"called"` // share of those with tools offered in which the model called, or tried to

	Calls  int            `json:"calls,omitempty"`
	Fixes  int            `json:"fixes,omitempty"`
	Again  int            `json:"again,omitempty"`    // asked for once more
	Failed int            `json:"failed,omitempty"`   // no reply came; of a tool, runs that failed
	Input  int            `json:"input,omitempty"`    // tokens
	Cached int            `json:"cached,omitempty"`   // of Input
	Output int            `json:"output,omitempty"`   // tokens
	Took   time.Duration  `json:"took_ns,omitempty"`  // on average
	First  time.Duration  `json:"first_ns,omitempty"` // to the first byte, on average
	Days   []Day          `json:"days,omitempty"`     // by day, without ByDay; the oldest first
	Seen   map[string]int `json:"seen,omitempty"`     // replies by the dialect in which they called; with ByModel
	Money  *float64       `json:"money,omitempty"`    // nil: no price is known
}

// Day are the counted replies of a day.
type Day struct {
	Day  string `json:"day"`
	Good int    `json:"good"`
	Bad  int    `json:"bad"`
}

var columns = map[By]string{ByModel: "model", ByForm: "form", ByDialect: "dialect", ByClient: "client", ByBackend: "backend", ByDay: dayOf}

// dayOf is the day of an hour, in UTC.
const dayOf = "date(hour*3600, 'unixepoch')"

// Rows are the figures by something, those with most replies first; by day, the
// days in their order. price gives the money that tokens of a model cost, and false
// where that is not known.
func (x *Index) Rows(ctx context.Context, by By, f Filter, price Price) ([]Row, error) {
	if by == ByTool {
		return x.tools(ctx, f)
	}
	where, args := x.where(f)
	q := `SELECT ` + columns[by] + `, ` + form(by) + `, model, dialect, outcome, ` + dayOf + `, sum(replies), sum(calls), sum(fixes), sum(again), sum(failed),
		sum(input), sum(cached), sum(output), sum(took), sum(first), sum(firsts) FROM hours WHERE ` + where + ` GROUP BY 1, 2, 3, 4, 5, 6`
	made := map[[2]string]*sums{}
	err := x.each(ctx, q, args, func(scan func(...any) error) error {
		var key, form, model, dialect, outcome, day string
		var n hourSum
		if err := scan(&key, &form, &model, &dialect, &outcome, &day, &n.replies, &n.calls, &n.fixes, &n.again, &n.failed,
			&n.input, &n.cached, &n.output, &n.took, &n.first, &n.firsts); err != nil {
			return err
		}
		s := sumOf(&made, [2]string{key, form})
		s.Key, s.Form = key, form
		s.add(record.Outcome(outcome), dialect, day, n)
		if money, known := price(model, int(n.input), int(n.cached), int(n.output)); known {
			if s.Money == nil {
				s.Money = new(float64)
			}
			*s.Money += money
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rowsOf(made, by), nil
}

func form(by By) string {
	if by == ByModel {
		return "form"
	}
	return "''"
}

// Price gives the money that tokens cost, cached ones being part of the input.
type Price func(model string, input, cached, output int) (money float64, known bool)

// sums are a row in the making.
type sums struct {
	Row
	took, first, firsts int64
	days                map[string]*Day
}

func (s *sums) add(o record.Outcome, dialect, day string, n hourSum) {
	replies := int(n.replies)
	s.Replies += replies
	d := sumOf(&s.days, day)
	d.Day = day
	switch o {
	case record.Good:
		s.Good, d.Good = s.Good+replies, d.Good+replies
	case record.Bad:
		s.Bad, d.Bad = s.Bad+replies, d.Bad+replies
	case record.Silent:
		s.Silent += replies
	default:
		s.Uncounted += replies
	}
	if dialect != "" {
		if s.Seen == nil {
			s.Seen = map[string]int{}
		}
		s.Seen[dialect] += replies
	}
	s.Calls, s.Fixes, s.Again, s.Failed = s.Calls+int(n.calls), s.Fixes+int(n.fixes), s.Again+int(n.again), s.Failed+int(n.failed)
	s.Input, s.Cached, s.Output = s.Input+int(n.input), s.Cached+int(n.cached), s.Output+int(n.output)
	s.took, s.first, s.firsts = s.took+n.took, s.first+n.first, s.firsts+n.firsts
}

func rowsOf(made map[[2]string]*sums, by By) (out []Row) {
	for _, s := range made {
		r := s.Row
		r.finish()
		if offered := r.Good + r.Bad + r.Silent; offered > 0 {
			r.Called = float64(r.Good+r.Bad) / float64(offered)
		}
		if r.Replies > 0 {
			r.Took = record.Micros(s.took / int64(r.Replies)).Duration()
		}
		if s.firsts > 0 {
			r.First = record.Micros(s.first / s.firsts).Duration()
		}
		if by != ByModel {
			r.Seen = nil
		}
		if by != ByDay {
			for _, d := range s.days {
				r.Days = append(r.Days, *d)
			}
			slices.SortFunc(r.Days, func(a, b Day) int { return cmp.Compare(a.Day, b.Day) })
		}
		out = append(out, r)
	}
	order(out, by)
	return out
}

func order(rows []Row, by By) {
	slices.SortFunc(rows, func(a, b Row) int {
		if by == ByDay {
			return cmp.Compare(a.Key, b.Key)
		}
		return cmp.Or(b.Replies-a.Replies, cmp.Compare(a.Key, b.Key), cmp.Compare(a.Form, b.Form))
	})
}

// finish makes the share and its interval.
func (r *Row) finish() {
	r.Success = record.Share{Good: float64(r.Good), Of: float64(r.Good + r.Bad)}
	r.Range = r.Success.Interval()
}

// tools are the figures of tools.
func (x *Index) tools(ctx context.Context, f Filter) (out []Row, err error) {
	where, args := x.where(f)
	err = x.each(ctx, "SELECT name, sum(good), sum(bad), sum(fixes), sum(ran), sum(failed), sum(took) FROM tools WHERE "+where+" GROUP BY 1", args, func(scan func(...any) error) error {
		var r Row
		var ran, took int64
		if err := scan(&r.Key, &r.Good, &r.Bad, &r.Fixes, &ran, &r.Failed, &took); err != nil {
			return err
		}
		r.Replies = r.Good + r.Bad
		r.Calls = r.Replies
		if r.finish(); ran > 0 {
			r.Took = record.Micros(took / ran).Duration()
		}
		out = append(out, r)
		return nil
	})
	order(out, ByTool)
	return out, err
}

// Word is how often something was seen.
type Word struct {
	Model string `json:"model,omitempty"`
	Word  string `json:"word"`
	Count int    `json:"count"`
}

// Words lists what was counted of a kind, by model, the most frequent first.
func (x *Index) Words(ctx context.Context, kind string, f Filter) (out []Word, err error) {
	where, args := x.where(f)
	err = x.each(ctx, "SELECT model, word, sum(n) FROM words WHERE kind = ? AND "+where+" GROUP BY 1, 2 ORDER BY 3 DESC, 2, 1", append([]any{kind}, args...), func(scan func(...any) error) error {
		var w Word
		if err := scan(&w.Model, &w.Word, &w.Count); err != nil {
			return err
		}
		out = append(out, w)
		return nil
	})
	return out, err
}

// Command are the figures of a command of te.
type Command struct {
	Cmd       string        `json:"cmd"`
	Mode      record.Mode   `json:"mode"`
	Count     int           `json:"count"`
	Tokens    int           `json:"tokens"`
	Saved     int           `json:"saved"`
	Truncated int           `json:"truncated,omitempty"`
	Took      time.Duration `json:"took_ns"` // on average
}

// Commands are the figures of te, the most used first.
func (x *Index) Commands(ctx context.Context, f Filter) (out []Command, err error) {
	f.Model = ""
	where, args := x.where(f)
	err = x.each(ctx, "SELECT cmd, mode, sum(n), sum(tokens), sum(saved), sum(truncated), sum(took) FROM commands WHERE "+where+" GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2", args, func(scan func(...any) error) error {
		var c Command
		var took int64
		if err := scan(&c.Cmd, &c.Mode, &c.Count, &c.Tokens, &c.Saved, &c.Truncated, &took); err != nil {
			return err
		}
		c.Took = record.Micros(took / int64(max(1, c.Count))).Duration()
		out = append(out, c)
		return nil
	})
	return out, err
}

// Seen is a reply in the index.
type Seen struct {
	Seq     int64          `json:"seq"` // grows; no two have the same
	Outcome record.Outcome `json:"outcome"`
	record.Reply
}

// Reply finds a reply by its id.
func (x *Index) Reply(ctx context.Context, id string) (s Seen, found bool, err error) {
	err = x.each(ctx, "SELECT seq, outcome, line FROM replies WHERE id = ? ORDER BY seq DESC LIMIT 1", []any{id}, func(scan func(...any) error) (err error) {
		s, err = seen(scan)
		found = err == nil
		return err
	})
	return s, found, err
}

// Each gives all replies, the oldest first, until each says false.
func (x *Index) Each(ctx context.Context, f Filter, each func(Seen) bool) error {
	err := x.each(ctx, "SELECT seq, outcome, line FROM replies WHERE time >= ? AND (? = '' OR model = ?) ORDER BY time, seq", []any{micros(f.Since), f.Model, f.Model}, func(scan func(...any) error) error {
		s, err := seen(scan)
		if err == nil && !each(s) {
			return errEnough
		}
		return err
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

var errEnough = errors.New("enough")

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func seen(scan func(...any) error) (s Seen, err error) {
	var line []byte
	if err := scan(&s.Seq, &s.Outcome, &line); err != nil {
		return s, err
	}
	e, err := record.Decode(line)
	if r, ok := e.(record.Reply); ok {
		s.Reply = r
	}
	return s, err
}

func (x *Index) each(ctx context.Context, query string, args []any, row func(scan func(...any) error) error) error {
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
