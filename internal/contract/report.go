package contract

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Report joins rows, the tests that carry them, and how these ended.
type Report struct {
	Rows    []Shown
	Strange []string // tags that name no row or stand at no test: each is a mistake
	Broken  []string // packages that could not run at all
}

// Shown is a row with its tests.
type Shown struct {
	Row
	Tests []Test
}

// Test is a carrier and how it ended.
type Test struct {
	Carrier
	Status Status
}

// Join builds the report.
func Join(rows []Row, carriers []Carrier, o *Outcomes) *Report {
	r := &Report{Broken: o.Broken()}
	byID := map[string][]Test{}
	for _, c := range carriers {
		if c.Func == "" && c.Case == "" {
			r.Strange = append(r.Strange, fmt.Sprintf("%s:%d: the tag %s stands at no test: move it above a test func", c.File, c.Line, strings.Join(c.IDs, " ")))
		}
		for _, id := range c.IDs {
			byID[id] = append(byID[id], Test{c, o.Of(c)})
		}
	}
	for _, row := range rows {
		s := Shown{Row: row}
		for _, id := range append([]string{row.ID}, row.ShownBy...) {
			s.Tests = append(s.Tests, byID[id]...)
		}
		r.Rows = append(r.Rows, s)
	}
	r.unknown(rows, byID)
	return r
}

func (r *Report) unknown(rows []Row, byID map[string][]Test) {
	known := map[string]bool{}
	for _, row := range rows {
		known[row.ID] = true
	}
	for _, row := range rows {
		for _, id := range row.ShownBy {
			if !known[id] {
				r.Strange = append(r.Strange, fmt.Sprintf("%s is shown by %s, which is no row", row.ID, id))
			}
		}
	}
	for _, id := range sortedKeys(byID) {
		if !known[id] {
			t := byID[id][0]
			r.Strange = append(r.Strange, fmt.Sprintf("%s:%d: %s is no row of docs/requirements.md", t.File, t.Line, id))
		}
	}
}

// Status sums up the row's tests: one failure fails it, and without one a
// single pass is enough.
func (s Shown) Status() (sum Status) {
	for _, t := range s.Tests {
		sum = max(sum, t.Status)
	}
	return sum
}

// OK reports whether every carrying test that ran passed and every tag is known.
func (r *Report) OK() bool {
	return len(r.Strange) == 0 && r.count(Failed) == 0
}

func (r *Report) count(s Status) (n int) {
	for _, row := range r.Rows {
		if row.Status() == s && len(row.Tests) > 0 {
			n++
		}
	}
	return n
}

// Find returns the row with the id.
func (r *Report) Find(id string) (Shown, bool) {
	i := slices.IndexFunc(r.Rows, func(s Shown) bool { return s.ID == id })
	if i < 0 {
		return Shown{}, false
	}
	return r.Rows[i], true
}

// Write prints the rows by group, each with its tests: the first few, or all
// of them for the rows in full. With no id in full it prints every row, else
// only those.
func (r *Report) Write(w io.Writer, full []string) {
	group := ""
	for _, s := range r.Rows {
		if len(full) > 0 && !slices.Contains(full, s.ID) {
			continue
		}
		if s.Group != group {
			group = s.Group
			with, all := r.carried(group)
			fmt.Fprintf(w, "\n%s: %d of %d rows have a test\n", group, with, all)
		}
		s.write(w, len(full) > 0)
	}
	fmt.Fprintln(w)
	for _, b := range r.Broken {
		fmt.Fprintf(w, "could not run: %s\n", b)
	}
	for _, s := range r.Strange {
		fmt.Fprintln(w, s)
	}
	fmt.Fprintln(w, r.Totals())
}

// Totals is the report in a line.
func (r *Report) Totals() string {
	without := 0
	for _, s := range r.Rows {
		if len(s.Tests) == 0 {
			without++
		}
	}
	return fmt.Sprintf("%d rows: %d pass, %d fail, %d have only tests that did not run, %d without a test",
		len(r.Rows), r.count(Passed), r.count(Failed), r.count(NotRun)+r.count(Skipped), without)
}

func (r *Report) carried(group string) (with, all int) {
	for _, s := range r.Rows {
		if s.Group == group {
			all++
			if len(s.Tests) > 0 {
				with++
			}
		}
	}
	return with, all
}

const few = 3

func (s Shown) write(w io.Writer, full bool) {
	status := "-"
	if len(s.Tests) > 0 {
		status = s.Status().String()
	}
	fmt.Fprintf(w, "  %-8s %-8s %s\n", s.ID, status, s.Text)
	if len(s.Tests) == 0 {
		return
	}
	// What failed comes first, so that it is among the few.
	tests := slices.SortedStableFunc(slices.Values(s.Tests), func(a, b Test) int { return int(b.Status - a.Status) })
	shown := tests
	if !full && len(tests) > few {
		shown = tests[:few]
	}
	var names []string
	for _, t := range shown {
		name := t.Name()
		if t.Status != Passed {
			name += " (" + t.Status.String() + ")"
		}
		names = append(names, name)
	}
	if rest := len(tests) - len(shown); rest > 0 {
		names = append(names, fmt.Sprintf("and %d more", rest))
	}
	fmt.Fprintf(w, "  %17s %s\n", "", strings.Join(names, " · "))
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
