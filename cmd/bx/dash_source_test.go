package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/stats"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/price"
	"github.com/unifiedtoolprotocol/utp/record"
)

// kept opens figures over events of its own, which more may join.
func kept(t *testing.T, events ...record.Event) (*figures, *journal.Writer) {
	t.Helper()
	dir := t.TempDir()
	f := &figures{events: filepath.Join(dir, "events"), content: filepath.Join(dir, "content"), price: pricesOf(price.List{"paid*": {Input: 1, Output: 10}})}
	w := journal.New(journal.Options{Dir: f.events, Program: "serve"})
	for _, e := range events {
		w.Append(e)
	}
	x, err := stats.Open(t.Context(), filepath.Join(dir, "stats.db"), f.events)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.close)
	f.x = x
	return f, w
}

// Where nothing was counted the page gets an empty list, and no null that it
// cannot read.
func TestNothingCountedIsAnEmptyList(t *testing.T) {
	f, _ := kept(t, record.Reply{ID: "a", Time: time.Now(), Asked: "m", Form: "native", Tools: 1, Status: 200, Stop: utp.StopEnd})
	d := dash.New(dash.Config{Source: f, Now: time.Now, Key: sha256.Sum256([]byte("k"))})
	server := httptest.NewServer(d)
	t.Cleanup(func() { server.Close(); d.Close() })
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	in, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/ui/login", strings.NewReader(`{"key":"k"}`))
	if err != nil {
		t.Fatal(err)
	}
	in.Header.Set("Content-Type", "application/json")
	in.Header.Set("Sec-Fetch-Site", "same-origin")
	resp, err := client.Do(in)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%v, %v", resp, err)
	}
	_ = resp.Body.Close()
	for _, path := range []string{"overview?since=1h", "overview?since=90d", "replies?since=1h", "reply?id=a"} {
		get, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/ui/data/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		get.Header.Set("Sec-Fetch-Site", "same-origin")
		resp, err := client.Do(get)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK || strings.Contains(string(text), "null") {
			t.Errorf("%s: %d %s %v", path, resp.StatusCode, text, err)
		}
	}
}

// What the dashboard shows is what was recorded.
func TestDashboardShowsWhatWasRecorded(t *testing.T) {
	until := time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)
	good := record.Reply{ID: "g", Time: until.Add(-time.Minute), By: record.ByServe, Client: "ci", API: "openai", Speaks: "ollama", Backend: "box", Asked: "free", Form: "native", Why: "the server says so", Tools: 2,
		Status: 200, Took: 3_000_000, First: 1000, Usage: utp.Usage{Input: 70, CacheRead: 30, Output: 20}, Stop: utp.StopTool,
		Calls: []record.Call{{Name: "f", Source: "hermes", Fixes: []string{"trailing comma"}}, {Name: "f", Source: "native"}}}
	bad := record.Reply{ID: "b", Time: until.Add(-30 * time.Hour), By: record.ByServe, Asked: "paid-1", Form: "react", Tools: 1, Status: 200, Took: 1_000_000, Usage: utp.Usage{Input: 1_000_000, Output: 100_000}, Stop: utp.StopEnd,
		Problems: []record.Problem{{Kind: utp.ProblemUnknownTool, Name: "g", Dialect: "react", Why: "no such tool"}}}
	bad.Lose("logprobs")
	own := record.Reply{Time: until.Add(-2 * time.Hour), By: record.ByBx, Asked: "free", Form: "native", Tools: 1, Status: 200, Stop: utp.StopTool,
		Calls: []record.Call{{Name: "shell", Source: "native", Outcome: utp.StatusFailed, Took: 5000}}}
	f, w := kept(t, bad, own, good)

	o, err := f.Overview(t.Context(), dash.Filter{Since: until.Add(-7 * 24 * time.Hour), Until: until})
	if err != nil {
		t.Fatal(err)
	}
	if o.Total.Replies != 3 || o.Total.Good != 2 || o.Total.Bad != 1 || o.Total.Calls != 3 || o.Total.Fixes != 1 || o.Total.Took != 4_000_000 || o.Total.Cost == nil || *o.Total.Cost != 2 {
		t.Errorf("total %+v", o.Total)
	}
	if !reflect.DeepEqual(o.Names, []string{"free", "paid-1"}) || len(o.Models) != 2 || o.Models[0].Name != "free" || o.Models[0].Total.Cost != nil || o.Models[1].Total.Low >= 0.5 {
		t.Errorf("models %+v", o.Models)
	}
	var sums [4]int
	for i, start := range o.Starts {
		if start%(6*3600) != 0 {
			t.Errorf("a column begins at %d", start)
		}
		for _, m := range o.Models {
			sums[0], sums[1], sums[2], sums[3] = sums[0]+m.Good[i], sums[1]+m.Bad[i], sums[2]+m.In[i], sums[3]+m.Out[i]
		}
	}
	if sums != [4]int{2, 1, 1_000_100, 100_020} {
		t.Errorf("columns add up to %v", sums)
	}
	if got, want := fmt.Sprint(o.Dialects, o.Forms, o.Fixes, o.Problems, o.Losses, o.Invented), "[{native 2 0} {hermes 1 0} {react 1 1}] [{native 2 0} {react 1 1}] [{trailing comma 1 0}] [{unknown_tool 1 0}] [{logprobs 1 0}] [{g 1 0}]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !reflect.DeepEqual(o.Tools, []dash.Tool{{Name: "shell", Calls: 1, Failed: 1, Mean: 5000, P50: 5086, P95: 5086, Spent: 5000}}) {
		t.Errorf("tools %+v", o.Tools)
	}

	// The last hour is told by the minute, and begins where it begins.
	hour := dash.Filter{Since: until.Add(-time.Hour), Until: until}
	o, err = f.Overview(t.Context(), hour)
	if err != nil || o.Width != 60 || len(o.Starts) != 61 || o.Total.Replies != 1 || len(o.Tools) != 0 || fmt.Sprint(o.Dialects) != "[{hermes 1 0} {native 1 0}]" || o.Models[0].Good[59] != 1 {
		t.Errorf("the last hour: %+v, %v", o, err)
	}
	if list, err := f.Replies(t.Context(), hour, 0, 10); err != nil || list.Total != 1 || list.Rows[0].ID != "g" {
		t.Errorf("%+v, %v", list, err)
	}

	list, err := f.Replies(t.Context(), dash.Filter{Since: until.Add(-24 * time.Hour), Until: until}, 0, 10)
	if err != nil || list.Total != 2 || list.Rows[0].ID != "g" || list.Rows[0].In != 100 || list.Rows[0].Fixes != 1 || fmt.Sprint(list.Rows[0].Names, list.Rows[0].Dialects) != "[f] [hermes native]" {
		t.Errorf("%+v, %v", list, err)
	}
	one, err := f.Reply(t.Context(), list.Rows[1].ID)
	if err != nil || one.By != record.ByBx || len(one.Made) != 1 || one.Made[0].Outcome != string(utp.StatusFailed) || one.Content != nil || one.Nothing == "" {
		t.Errorf("a reply without an id: %+v, %v", one, err)
	}
	one, err = f.Reply(t.Context(), "b")
	if err != nil || one.Outcome != "bad" || one.Why != string(utp.ProblemUnknownTool) || len(one.Broken) != 1 || one.Broken[0].Why != "no such tool" || len(one.Lost) != 1 {
		t.Errorf("%+v, %v", one, err)
	}
	for _, id := range []string{"nobody", "seq:77", "seq:x", "seq:-1", ""} {
		if _, err := f.Reply(t.Context(), id); !errors.Is(err, dash.ErrNone) {
			t.Errorf("%q: %v", id, err)
		}
	}

	c := journal.New(journal.Options{Dir: f.content, Program: "serve", Now: func() time.Time { return good.Time }})
	c.Append(record.Content{ID: "other", Raw: "no"})
	c.Append(record.Content{ID: "g", Raw: "raw", Request: "{}", Cut: true})
	if one, err = f.Reply(t.Context(), "g"); err != nil || one.Content == nil || *one.Content != (dash.Content{Raw: "raw", Request: "{}", Cut: true}) {
		t.Errorf("%+v, %v", one, err)
	}

	_, place, err := f.Since(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	w.Append(record.Reply{ID: "n", Time: until, Asked: "free", Status: 200, Stop: utp.StopEnd})
	rows, next, err := f.Since(t.Context(), place, 10)
	if err != nil || len(rows) != 1 || rows[0].ID != "n" {
		t.Errorf("%+v, %v", rows, err)
	}
	if rows, _, err = f.Since(t.Context(), next, 10); err != nil || len(rows) > 0 {
		t.Errorf("%+v, %v", rows, err)
	}
}
