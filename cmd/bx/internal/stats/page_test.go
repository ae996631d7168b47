package stats_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/stats"
	"github.com/unifiedtoolprotocol/utp/record"
)

// Every part of the list is what a plain list has there, whatever is filtered.
func TestPage(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 2))
	var events []record.Event
	for i := range 600 {
		e := record.Reply{ID: fmt.Sprint(i), Time: began.Add(time.Duration(r.IntN(40*60)) * time.Minute), Asked: []string{"a", "b"}[r.IntN(2)], Form: "native", Tools: 1, Status: 200, Stop: utp.StopTool,
			Calls: []record.Call{{Name: "f", Source: "hermes", Hallucinated: r.IntN(5) == 0}}}
		events = append(events, e)
	}
	write(t, dir, events)
	x := open(t, "", dir)
	sync(t, x)
	until := began.Add(30*time.Hour + 17*time.Minute)
	for _, f := range []stats.Filter{{Until: until}, {Until: until, Model: "a"}, {Since: began.Add(5 * time.Hour), Until: until}, {Until: began.Add(100 * time.Hour)}, {Until: began.Add(-time.Hour)}, {Until: until, Model: "c"}} {
		for _, outcome := range []record.Outcome{"", record.Good, record.Bad, record.Silent} {
			var want []string
			var all []record.Reply
			for _, e := range events {
				r := e.(record.Reply)
				if o, _ := record.Judge(&r); !r.Time.After(f.Until) && !r.Time.Before(f.Since) && (f.Model == "" || f.Model == r.Asked) && (outcome == "" || outcome == o) {
					all = append(all, r)
				}
			}
			slices.SortStableFunc(all, func(a, b record.Reply) int { return b.Time.Compare(a.Time) })
			for _, r := range all {
				want = append(want, r.Time.String())
			}
			for _, from := range []int{0, 1, 7, 100, 333, 599, 1000} {
				got, total, err := x.Page(t.Context(), f, outcome, from, 50)
				if err != nil {
					t.Fatal(err)
				}
				var times []string
				for _, s := range got {
					times = append(times, s.Time.String())
				}
				part := want[min(from, len(want)):min(from+50, len(want))]
				if total != len(want) || !slices.Equal(times, part) {
					t.Errorf("%+v %q from %d: %d of %d\ngot  %v\nwant %v", f, outcome, from, total, len(want), times, part)
				}
			}
		}
	}
}

// What is new is listed once, in its order.
func TestAfter(t *testing.T) {
	dir := t.TempDir()
	w := write(t, dir, events[:5])
	x := open(t, "", dir)
	sync(t, x)
	last, err := x.Last(t.Context())
	if err != nil || last == 0 {
		t.Fatal(last, err)
	}
	for _, e := range events[5:9] {
		w.Append(e)
	}
	sync(t, x)
	var ids []string
	for range 3 {
		got, next, err := x.After(t.Context(), last, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got {
			ids = append(ids, s.ID)
		}
		last = next
	}
	var want []string
	for _, e := range events[5:9] {
		want = append(want, e.(record.Reply).ID)
	}
	if !reflect.DeepEqual(ids, want) {
		t.Errorf("got %v, want %v", ids, want)
	}
}

// The sums of spans, of dialects and of tools are those of the rows.
func TestSpansAddUp(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, events)
	x := open(t, "", dir)
	sync(t, x)
	f := stats.Filter{}
	for _, hours := range []int64{1, 6, 24} {
		spans, err := x.Spans(t.Context(), f, hours)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][4]int{}
		for _, s := range spans {
			if s.Start%hours != 0 {
				t.Errorf("a span of %d hours begins at %d", hours, s.Start)
			}
			n := got[s.Model]
			got[s.Model] = [4]int{n[0] + s.Replies, n[1] + s.Good, n[2] + s.Bad, n[3] + s.Input}
		}
		rows, err := x.Rows(t.Context(), stats.ByModel, f, unpriced)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][4]int{}
		for _, r := range rows {
			n := want[r.Key]
			want[r.Key] = [4]int{n[0] + r.Replies, n[1] + r.Good, n[2] + r.Bad, n[3] + r.Input}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d hours: got %v, want %v", hours, got, want)
		}
	}
	calls, err := x.Calls(t.Context(), f)
	if err != nil || len(calls) != 2 || calls[0].Dialect != "hermes" || calls[0].Count != 50 || calls[0].Bad != 20 {
		t.Errorf("%+v, %v", calls, err)
	}
	runs, err := x.Runs(t.Context(), f)
	if err != nil || len(runs) != 1 || runs[0].Name != "search" || runs[0].Took != time.Duration(runs[0].Runs)*2*time.Millisecond {
		t.Errorf("%+v, %v", runs, err)
	}
}

// Half of the runs of a tool take at most so long as P50 says, to a tenth, and 95 %
// so long as P95 does, also over several segments.
func TestPercentiles(t *testing.T) {
	dir := t.TempDir()
	var events []record.Event
	for i := range 1000 {
		events = append(events, record.Reply{ID: fmt.Sprint(i), Time: began, Asked: "m", Tools: 1, Status: 200, Stop: utp.StopTool,
			Calls: []record.Call{{Name: "shell", Source: "native", Outcome: utp.StatusOK, Took: record.Micros(1000 * (i + 1))},
				{Name: "shell", Source: "native", Outcome: utp.StatusFailed, Refusal: "tier", Took: 1}}})
	}
	write(t, dir, events)
	x := open(t, "", dir)
	sync(t, x)
	runs, err := x.Runs(t.Context(), stats.Filter{})
	if err != nil || len(runs) != 1 || runs[0].Runs != 1000 {
		t.Fatalf("%+v, %v", runs, err)
	}
	for _, c := range []struct{ have, want time.Duration }{{runs[0].P50, 500 * time.Millisecond}, {runs[0].P95, 950 * time.Millisecond}} {
		if off := float64(c.have)/float64(c.want) - 1; off < -0.1 || off > 0.1 {
			t.Errorf("%v, want %v", c.have, c.want)
		}
	}
}
