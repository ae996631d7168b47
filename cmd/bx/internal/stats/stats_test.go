package stats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cells"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/stats"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

func unpriced(string, int, int, int) (float64, bool) { return 0, false }

var began = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// replies of a model, of which every fourth is broken.
func replies(model, form, dialect string, n int) (out []record.Event) {
	for i := range n {
		r := record.Reply{ID: fmt.Sprint(model, form, i), Time: began.Add(time.Duration(i) * 5 * time.Hour), By: record.ByServe, Client: "ci", Asked: model, Form: form, Tools: 2,
			Status: 200, Took: 1_500_000, First: 200_000, Usage: utp.Usage{Input: 1000, CacheRead: 500, Output: 100}, Stop: utp.StopTool,
			Calls: []record.Call{{Name: "search", Source: dialect, Fixes: []string{"trailing comma"}, Outcome: utp.StatusOK, Took: 2000}}}
		switch i % 4 {
		case 2:
			r.Calls, r.Problems = nil, []record.Problem{{Kind: utp.ProblemMalformed, Name: "search", Dialect: dialect}}
		case 3:
			r.Calls = append(r.Calls, record.Call{Name: "find_all", Source: dialect, Hallucinated: true, Refusal: "unknown_tool", Outcome: utp.StatusFailed})
			r.Lose("top_k: dropped")
		}
		out = append(out, r)
	}
	return append(out, record.Reply{ID: "s" + model + form, Time: began, Asked: model, Form: form, Tools: 1, Status: 200, Stop: utp.StopEnd},
		record.Reply{ID: "u" + model + form, Time: began, Asked: model, Form: record.FormNone, Status: 200, Stop: utp.StopEnd})
}

func write(t *testing.T, dir string, events []record.Event) *journal.Writer {
	t.Helper()
	w := journal.New(journal.Options{Dir: dir, Program: "serve", Segment: 4000})
	for _, e := range events {
		if !w.Append(e) {
			t.Fatal("not written")
		}
	}
	return w
}

func open(t *testing.T, file, dir string) *stats.Index {
	t.Helper()
	x, err := stats.Open(t.Context(), file, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func sync(t *testing.T, x *stats.Index) stats.Notes {
	t.Helper()
	n, err := x.Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func report(t *testing.T, x *stats.Index, by stats.By) stats.Report {
	t.Helper()
	r, err := x.Report(t.Context(), by, stats.Filter{}, func(model string, in, _, out int) (float64, bool) {
		return float64(in+out) / 1e4, model == "gpt-5"
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var events = append(append(replies("qwen2.5-coder:7b", "native", "hermes", 40), replies("gpt-5", "native", "native", 7)...),
	record.Command{Time: began, Cmd: "grep", Mode: record.Enriched, Tokens: 500, Saved: 20_000}, record.Command{Time: began, Cmd: "git", Mode: record.Passthrough})

// Each model and form, each dialect, outcomes, invented names and mismatches are
// counted, at any width of the terminal.
// contract, N-18
func TestReport(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, events)
	x := open(t, "", dir)
	sync(t, x)
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		for _, width := range []int{40, 80, 120} {
			var b strings.Builder
			report(t, x, stats.By(filepath.Base(c.Name))).Text(&b, width)
			for line := range strings.Lines(b.String()) {
				if n := cells.Width(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%d columns of %d: %q", n, width, line)
				}
			}
			c.Want(t, fmt.Sprint(width), b.String())
		}
		var b strings.Builder
		if err := report(t, x, stats.By(filepath.Base(c.Name))).CSV(&b); err != nil {
			t.Fatal(err)
		}
		c.Want(t, "csv", b.String())
	})
}

// Events are counted once, whether the index is new, goes on, was deleted or is
// garbage; what went with its segment is counted no more.
func TestIndexIsAnExtract(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "cache", "stats.db")
	w := write(t, dir, events[:30])
	x := open(t, file, dir)
	sync(t, x)
	for _, e := range events[30:] {
		w.Append(e)
		sync(t, x)
	}
	sync(t, x)
	fresh := open(t, "", dir)
	sync(t, fresh)
	want := report(t, fresh, stats.ByModel)
	if got := report(t, x, stats.ByModel); !reflect.DeepEqual(got, want) || got.Rows[0].Replies != 41 {
		t.Errorf("got %+v\nwant %+v", got.Rows, want.Rows)
	}
	_ = x.Close()
	for name, spoil := range map[string]func() error{
		"deleted": func() error { return os.Remove(file) },
		"garbage": func() error { return os.WriteFile(file, []byte(strings.Repeat("no database ", 1000)), 0o600) },
		"empty":   func() error { return os.Truncate(file, 0) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		x := open(t, file, dir)
		sync(t, x)
		if got := report(t, x, stats.ByModel); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", name, got.Rows)
		}
		_ = x.Close()
	}
	x = open(t, file, dir)
	if n, _, err := journal.Purge(dir, time.Time{}); err != nil || n < 2 {
		t.Fatalf("%d segments, %v", n, err)
	}
	sync(t, x)
	if got := report(t, x, stats.ByModel); len(got.Rows)+len(got.Fixes)+len(got.Commands) != 0 {
		t.Errorf("left: %+v", got)
	}
}

// What is no event, and what could not be written, is told.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	w := write(t, dir, []record.Event{record.Dropped{Count: 3}})
	segments, err := journal.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, segments[0].Name)
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("{\"v\":9,\"kind\":\"reply\"}\n{\"v\":1,\"kind\":\"dream\"}\nnonsense\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	w.Append(record.Dropped{Count: 1})
	x := open(t, "", dir)
	if n := sync(t, x); n.Dropped != 4 || n.Skipped != (record.Skipped{Broken: 1, Newer: 1, Kinds: 1}) {
		t.Errorf("%+v", n)
	}
	r := report(t, x, stats.ByModel)
	r.Notes = sync(t, x)
	var b strings.Builder
	r.Text(&b, 80)
	if !strings.Contains(b.String(), "3 lines could not be read") || !strings.Contains(b.String(), "4 events could not be written") {
		t.Error(b.String())
	}
}

// Replies are found by page, by id, and all in their order.
func TestReplies(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, events)
	x := open(t, "", dir)
	sync(t, x)
	page, of, err := x.Page(t.Context(), stats.Filter{Since: time.Unix(0, 0), Until: time.Now().AddDate(1, 0, 0), Model: "gpt-5"}, "", 0, 3)
	if err != nil || len(page) != 3 || of != 9 {
		t.Fatalf("%d of %d, %v", len(page), of, err)
	}
	one, found, err := x.Reply(t.Context(), page[1].ID)
	if err != nil || !found || !reflect.DeepEqual(one, page[1]) {
		t.Errorf("%+v, %v, %v", one, found, err)
	}
	if _, found, err := x.Reply(t.Context(), "nobody"); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	var last time.Time
	n := 0
	err = x.Each(t.Context(), stats.Filter{Model: "gpt-5"}, func(s stats.Seen) bool {
		if n++; s.Time.Before(last) {
			t.Errorf("%v after %v", s.Time, last)
		}
		last = s.Time
		return n < 8
	})
	if err != nil || n != 8 {
		t.Errorf("%d, %v", n, err)
	}
}

// What a model calls its tools gives no orders to the terminal.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, []record.Event{record.Reply{ID: "1", Time: began, Asked: "m\x1b[2J\u202e", Form: "native", Tools: 1, Status: 200, Stop: utp.StopTool,
		Calls: []record.Call{{Name: "f\x1b]0;x\a\n\r", Source: "native", Hallucinated: true}}}})
	x := open(t, "", dir)
	sync(t, x)
	for _, by := range stats.Bys() {
		var b strings.Builder
		report(t, x, by).Text(&b, 80)
		if strings.ContainsAny(b.String(), "\x1b\a\r\u202e") {
			t.Errorf("%s: %q", by, b.String())
		}
	}
}
