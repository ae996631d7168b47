package stats

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/record"
)

// Report is what bx stats shows.
type Report struct {
	Since      time.Time `json:"since,omitzero"`
	By         By        `json:"by"`
	Rows       []Row     `json:"rows"`
	Reasons    []Word    `json:"bad,omitempty"`
	Invented   []Word    `json:"invented,omitempty"`
	Mismatches []Word    `json:"mismatches,omitempty"`
	Fixes      []Word    `json:"fixes,omitempty"`
	Losses     []Word    `json:"losses,omitempty"`
	Commands   []Command `json:"te,omitempty"`
	Notes      Notes     `json:"notes,omitzero"`
}

// Report answers all questions at once.
func (x *Index) Report(ctx context.Context, by By, f Filter, price Price) (r Report, err error) {
	r = Report{Since: f.Since, By: by}
	if r.Rows, err = x.Rows(ctx, by, f, price); err != nil {
		return r, err
	}
	for kind, to := range map[string]*[]Word{Reasons: &r.Reasons, Invented: &r.Invented, Mismatches: &r.Mismatches, Fixes: &r.Fixes, Losses: &r.Losses} {
		if *to, err = x.Words(ctx, kind, f); err != nil {
			return r, err
		}
	}
	r.Commands, err = x.Commands(ctx, f)
	return r, err
}

// column is one of a table. Those with the highest rank go first where there is
// no room.
type column struct {
	title string
	rank  int
	left  bool // as text, and not as a number
	cell  func(*Row) string
}

// minKey is how many columns the first one keeps.
const minKey = 12

func (r *Report) columns() []column {
	of := "REPLIES"
	if r.By == ByTool {
		of = "CALLS"
	}
	all := []column{
		{strings.ToUpper(string(r.By)), 0, true, func(r *Row) string { return cmp.Or(cells.Clean(r.Key), "-") }},
		{"FORM", 1, true, func(r *Row) string { return cmp.Or(r.Form, "-") }},
		{of, 0, false, func(r *Row) string { return strconv.Itoa(r.Replies) }},
		{"GOOD", 0, false, func(r *Row) string { return percent(r.Success.Rate(), r.Success.Of > 0) }},
		{"95 %", 2, false, ranged},
		{"CALLED", 4, false, func(r *Row) string { return percent(r.Called, r.Called > 0) }},
		{"DIALECTS", 3, true, func(r *Row) string { return cells.Cut(mix(r.Seen), 30) }},
		{"FIXES", 6, false, func(r *Row) string { return number(r.Fixes) }},
		{"FAILED", 7, false, func(r *Row) string { return number(r.Failed) }},
		{"TIME", 5, false, func(r *Row) string { return lasting(r.Took) }},
		{"TOKENS", 5, false, func(r *Row) string { return number(r.Input + r.Output) }},
		{"MONEY", 5, false, func(r *Row) string {
			if r.Money == nil {
				return ""
			}
			return strconv.FormatFloat(*r.Money, 'f', 2, 64)
		}},
		{"BY DAY", 3, true, func(r *Row) string { return spark(r.Days) }},
	}
	return slices.DeleteFunc(all, func(c column) bool {
		return c.rank > 0 && !slices.ContainsFunc(r.Rows, func(row Row) bool { return strings.Trim(c.cell(&row), "-") != "" })
	})
}

func percent(share float64, known bool) string {
	if !known {
		return ""
	}
	return fmt.Sprintf("%.0f %%", share*100)
}

func ranged(r *Row) string {
	if r.Success.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f–%.0f", r.Range.Low*100, r.Range.High*100)
}

func number(n int) string {
	switch {
	case n == 0:
		return ""
	case n >= 10_000_000:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return strconv.Itoa(n)
}

func lasting(d time.Duration) string {
	switch {
	case d == 0:
		return ""
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}

// mix lists dialects by how often they were seen.
func mix(seen map[string]int) string {
	names := slices.SortedFunc(maps.Keys(seen), func(a, b string) int { return cmp.Or(seen[b]-seen[a], cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, seen[name])
	}
	return strings.Join(names, ", ")
}

// sparks are the heights of spark; maxSpark is how many days it shows.
const (
	sparks   = "▁▂▃▄▅▆▇█"
	maxSpark = 14
)

// spark draws the share of good replies of the last days, a column each; "·" is a
// day without any.
func spark(days []Day) string {
	if len(days) == 0 {
		return ""
	}
	last, err := time.Parse(time.DateOnly, days[len(days)-1].Day)
	if err != nil {
		return ""
	}
	by := map[string]Day{}
	for _, d := range days {
		by[d.Day] = d
	}
	first := last.AddDate(0, 0, 1-maxSpark)
	if from, err := time.Parse(time.DateOnly, days[0].Day); err == nil && from.After(first) {
		first = from
	}
	heights := []rune(sparks)
	var out strings.Builder
	for t := first; !t.After(last); t = t.AddDate(0, 0, 1) {
		d := by[t.Format(time.DateOnly)]
		if d.Good+d.Bad == 0 {
			out.WriteRune('·')
			continue
		}
		out.WriteRune(heights[d.Good*(len(heights)-1)/(d.Good+d.Bad)])
	}
	if strings.Trim(out.String(), "·") == "" {
		return ""
	}
	return out.String()
}

// Text writes the report for a terminal of so many columns.
func (r Report) Text(w io.Writer, columns int) {
	var b strings.Builder
	said := func(format string, a ...any) { b.WriteString(cells.Wrap(fmt.Sprintf(format, a...), columns)) }
	if len(r.Rows) == 0 && len(r.Commands) == 0 {
		b.WriteString("Nothing has happened yet")
		if !r.Since.IsZero() {
			b.WriteString(" since " + r.Since.UTC().Format("2006-01-02 15:04"))
		}
		b.WriteString(".\n")
	}
	if len(r.Rows) > 0 {
		r.table(&b, columns)
	}
	for _, s := range []struct {
		title string
		words []Word
	}{{"Why replies were bad", r.Reasons}, {"Names of tools that were not offered", r.Invented}, {"Calls in another dialect than the tools were told in", r.Mismatches},
		{"Repairs", r.Fixes}, {"What could not be passed on", r.Losses}} {
		words(&b, s.title, s.words, columns)
	}
	r.te(&b, columns)
	if n := r.Notes.Skipped.Lines(); n > 0 {
		said("\n%d lines could not be read and are not counted (broken %d, of a later version %d, of an unknown kind %d).\n",
			n, r.Notes.Skipped.Broken, r.Notes.Skipped.Newer, r.Notes.Skipped.Kinds)
	}
	if r.Notes.Dropped > 0 {
		said("\n%d events could not be written and are not counted.\n", r.Notes.Dropped)
	}
	_, _ = io.WriteString(w, b.String())
}

// table writes the rows, with as many columns as there is room for.
func (r *Report) table(b *strings.Builder, width int) {
	cols := r.columns()
	widths := r.widths(cols)
	for sum(widths) > width && len(cols) > 3 {
		worst := slices.IndexFunc(cols, func(c column) bool {
			return c.rank == slices.MaxFunc(cols, func(a, b column) int { return a.rank - b.rank }).rank
		})
		if cols[worst].rank == 0 {
			break
		}
		cols = slices.Delete(cols, worst, worst+1)
		widths = r.widths(cols)
	}
	if over := sum(widths) - width; over > 0 {
		widths[0] = max(minKey, widths[0]-over)
	}
	line := func(cell func(column) string) {
		var l strings.Builder
		for i, c := range cols {
			text := cells.Cut(cell(c), widths[i])
			pad := strings.Repeat(" ", max(0, widths[i]-cells.Width(text)))
			if i > 0 {
				l.WriteString("  ")
			}
			if c.left {
				l.WriteString(text + pad)
			} else {
				l.WriteString(pad + text)
			}
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	line(func(c column) string { return c.title })
	for i := range r.Rows {
		line(func(c column) string { return c.cell(&r.Rows[i]) })
	}
}

func (r *Report) widths(cols []column) []int {
	out := make([]int, len(cols))
	for i, c := range cols {
		out[i] = cells.Width(c.title)
		for k := range r.Rows {
			out[i] = max(out[i], cells.Width(c.cell(&r.Rows[k])))
		}
	}
	return out
}

// sum is the width of a line, with two blanks between the columns.
func sum(widths []int) int {
	n := 2 * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
}

// maxWords is how many words of a kind are shown.
const maxWords = 8

func words(b *strings.Builder, title string, list []Word, width int) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", cells.Wrap(title, width))
	for _, w := range list[:min(len(list), maxWords)] {
		text := fmt.Sprintf("%6d  %s", w.Count, cells.Clean(w.Word))
		if w.Model != "" {
			text += "  (" + cells.Clean(w.Model) + ")"
		}
		b.WriteString(cells.Cut(text, width) + "\n")
	}
	if more := len(list) - maxWords; more > 0 {
		fmt.Fprintf(b, "        and %d more (--json lists all)\n", more)
	}
}

func (r *Report) te(b *strings.Builder, width int) {
	if len(r.Commands) == 0 {
		return
	}
	b.WriteString("\nte\n")
	for _, c := range r.Commands {
		text := fmt.Sprintf("%6d  %s %s", c.Count, cells.Clean(c.Cmd), c.Mode)
		if c.Mode == record.Enriched {
			text += fmt.Sprintf(": %s tokens shown, %s saved", cmp.Or(number(c.Tokens), "0"), cmp.Or(number(c.Saved), "0"))
		}
		b.WriteString(cells.Cut(text, width) + "\n")
	}
}

// CSV writes the rows as a table for other programs.
func (r Report) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{string(r.By), "form", "replies", "good", "bad", "silent", "uncounted", "low", "high", "called", "calls", "fixes", "again", "failed",
		"input_tokens", "cached_tokens", "output_tokens", "seconds", "first_byte_seconds", "money"})
	for _, row := range r.Rows {
		money := ""
		if row.Money != nil {
			money = strconv.FormatFloat(*row.Money, 'f', 6, 64)
		}
		line := []string{row.Key, row.Form}
		for _, n := range []int{row.Replies, row.Good, row.Bad, row.Silent, row.Uncounted} {
			line = append(line, strconv.Itoa(n))
		}
		for _, v := range []float64{row.Range.Low, row.Range.High, row.Called} {
			line = append(line, strconv.FormatFloat(v, 'f', 4, 64))
		}
		for _, n := range []int{row.Calls, row.Fixes, row.Again, row.Failed, row.Input, row.Cached, row.Output} {
			line = append(line, strconv.Itoa(n))
		}
		for _, d := range []time.Duration{row.Took, row.First} {
			line = append(line, strconv.FormatFloat(d.Seconds(), 'f', 6, 64))
		}
		_ = out.Write(append(line, money))
	}
	out.Flush()
	return out.Error()
}
