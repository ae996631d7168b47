package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

// clock is a time that tests move.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 11, 23, 3, 0, 0, 0, time.UTC)} }

// reply is an event with a name.
func reply(id string) record.Reply { return record.Reply{ID: id, Asked: "m", Tools: 1} }

// counted adds up a store: how often each event is in it, and how many were lost.
func counted(t *testing.T, dir string) (times map[string]int, dropped int, skipped record.Skipped) {
	t.Helper()
	times = map[string]int{}
	all, err := journal.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		_, sk, err := journal.Read(dir, s.Name, 0, func(_ int64, e record.Event) bool {
			switch e := e.(type) {
			case record.Reply:
				times[e.ID]++
			case record.Dropped:
				dropped += e.Count
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		skipped.Add(sk)
	}
	return times, dropped, skipped
}

func segments(t *testing.T, dir string) []journal.Segment {
	t.Helper()
	all, err := journal.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What is read in pieces is what is read at once: next is where the rest begins.
func TestReadGoesOn(t *testing.T) {
	dir := t.TempDir()
	w := journal.New(journal.Options{Dir: dir, Program: "bx"})
	for i := range 10 {
		w.Append(reply(fmt.Sprint(i)))
	}
	name, from, got := segments(t, dir)[0].Name, int64(0), ""
	for range 10 {
		next, _, err := journal.Read(dir, name, from, func(_ int64, e record.Event) bool {
			if len(got) > 0 && strings.HasSuffix(got, "|") {
				return false
			}
			got += e.(record.Reply).ID + "|"
			return true
		})
		if err != nil || next <= from {
			t.Fatalf("%d after %d, %v", next, from, err)
		}
		got, from = strings.TrimSuffix(got, "|"), next
	}
	if got != "0123456789" {
		t.Errorf("read %s", got)
	}
	w.Append(reply("late"))
	if _, _, err := journal.Read(dir, name, from, func(_ int64, e record.Event) bool { got = e.(record.Reply).ID; return true }); err != nil || got != "late" {
		t.Errorf("%s, %v", got, err)
	}
}

// A segment has one owner to read it, and lasts until it is full or the day is over.
func TestRotation(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "a", "events"), newClock()
	w := journal.New(journal.Options{Dir: dir, Program: "serve", Segment: 1000, Now: c.Now})
	for i := range 30 {
		w.Append(reply(fmt.Sprint(i)))
	}
	first := segments(t, dir)
	if len(first) < 2 || first[0].Size > 1100 {
		t.Errorf("segments %+v", first)
	}
	c.now = c.now.Add(24 * time.Hour)
	w.Append(reply("next day"))
	all := segments(t, dir)
	if last := all[len(all)-1]; len(all) != len(first)+1 || last.Day != "2026-11-24" || last.Program != "serve" {
		t.Errorf("last %+v", last)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, all[0].Name): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if times, _, _ := counted(t, dir); len(times) != 31 {
		t.Errorf("%d events", len(times))
	}
}

// Old segments go when a new one begins: by age, and the oldest when there is too
// much.
func TestKeep(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	w := journal.New(journal.Options{Dir: dir, Program: "bx", Now: c.Now, Keep: journal.Keep{Days: 5, Bytes: 250}})
	stranger := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(stranger, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		w.Append(reply(c.now.Format(time.DateOnly)))
		c.now = c.now.Add(24 * time.Hour)
	}
	all := segments(t, dir)
	var sum int64
	for _, s := range all[:len(all)-1] {
		sum += s.Size
	}
	if len(all) < 2 || len(all) > 6 || sum > 250 {
		t.Errorf("%d segments, %d bytes", len(all), sum)
	}
	if n, bytes, err := journal.Purge(dir, c.now.AddDate(0, 0, -1)); err != nil || n != len(all)-1 || bytes != sum {
		t.Errorf("purged %d, %d bytes, %v", n, bytes, err)
	}
	if n, _, err := journal.Purge(dir, time.Time{}); err != nil || n != 1 || len(segments(t, dir)) != 0 {
		t.Errorf("purged %d, %v", n, err)
	}
	if _, err := os.Stat(stranger); err != nil {
		t.Errorf("a file that is no segment is gone: %v", err)
	}
}

// spoil does to a store what may happen to one, and says what has to be done so
// that it works again.
var spoil = map[string]func(t *testing.T, dir string) (mend func()){
	"half a last line": func(t *testing.T, dir string) func() {
		appendTo(t, filepath.Join(dir, segments(t, dir)[0].Name), `{"v":1,"kind":"reply","id":"ha`)
		return nil
	},
	"corrupt": func(t *testing.T, dir string) func() {
		appendTo(t, filepath.Join(dir, segments(t, dir)[0].Name), "\x00\xff\n{]\n")
		return nil
	},
	"deleted file": func(t *testing.T, dir string) func() {
		if err := os.Remove(filepath.Join(dir, segments(t, dir)[0].Name)); err != nil {
			t.Fatal(err)
		}
		return nil
	},
	"deleted folder": func(t *testing.T, dir string) func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		return nil
	},
	"not writable": func(t *testing.T, dir string) func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir, nil, 0o400); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
		}
	},
}

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Whatever is done to the store, each event whose Append said so is in it once,
// each of the others is counted, and one warning is given.
func TestSpoiltStore(t *testing.T) {
	for name, harm := range spoil {
		t.Run(name, func(t *testing.T) {
			dir, c := filepath.Join(t.TempDir(), "events"), newClock()
			warned := 0
			w := journal.New(journal.Options{Dir: dir, Program: "bx", Now: c.Now, Warn: func(string) { warned++ }})
			w.Append(reply("before"))
			mend := harm(t, dir)
			c.now = c.now.Add(time.Minute)
			kept, lost := []string{}, 0
			put := func(id string) {
				if w.Append(reply(id)) {
					kept = append(kept, id)
				} else {
					lost++
				}
			}
			put("a")
			put("b")
			c.now = c.now.Add(time.Minute)
			put("c")
			if mend != nil {
				if lost != 3 {
					t.Errorf("%d lost, want 3", lost)
				}
				mend()
			}
			put("too early to try again")
			c.now = c.now.Add(time.Minute)
			put("d")
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			times, dropped, _ := counted(t, dir)
			for _, id := range kept {
				if times[id] != 1 {
					t.Errorf("%s is there %d times", id, times[id])
				}
			}
			want := 0
			if mend != nil {
				want = 1
			}
			if dropped != lost || warned != want {
				t.Errorf("%d of %d lost ones are counted, %d warnings, want %d", dropped, lost, warned, want)
			}
		})
	}
}

// A line that was cut off spoils no other, also where another process goes on
// behind it.
func TestCutLineSpoilsNoOther(t *testing.T) {
	dir := t.TempDir()
	one := journal.New(journal.Options{Dir: dir, Program: "te"})
	one.Append(reply("1"))
	name := filepath.Join(dir, segments(t, dir)[0].Name)
	appendTo(t, name, `{"v":1,"kind":"reply","id":"cut`)
	one.Append(reply("2"))
	appendTo(t, name, `{"v":1,"kin`)
	two := journal.New(journal.Options{Dir: dir, Program: "te"})
	two.Append(reply("3"))
	times, _, skipped := counted(t, dir)
	if len(segments(t, dir)) != 1 || times["1"] != 1 || times["2"] != 1 || times["3"] != 1 || skipped.Broken != 2 {
		t.Errorf("%v, %+v", times, skipped)
	}
}

// A Writer that holds events writes them by itself, at once when there are many,
// and at its end.
func TestHeld(t *testing.T) {
	dir := t.TempDir()
	w := journal.New(journal.Options{Dir: dir, Program: "serve", Held: 256, Every: time.Millisecond})
	if !w.Append(reply("alone")) {
		t.Fatal("not held")
	}
	for len(segments(t, dir)) == 0 || segments(t, dir)[0].Size == 0 {
		time.Sleep(time.Millisecond)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	kept := 1
	for g := range 8 {
		wg.Go(func() {
			for i := range 500 {
				if w.Append(reply(fmt.Sprint(g, "-", i))) {
					mu.Lock()
					kept++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if w.Append(reply("late")) {
		t.Error("a closed Writer took an event")
	}
	times, dropped, skipped := counted(t, dir)
	if len(times) != kept || kept+dropped != 4001 || skipped.Lines() != 0 {
		t.Errorf("%d events of %d, %d dropped, %+v", len(times), kept, dropped, skipped)
	}
}

// Nobody waits for a store that holds: what there is no room for is counted.
func TestHeldIsBounded(t *testing.T) {
	dir := t.TempDir()
	w := journal.New(journal.Options{Dir: dir, Program: "serve", Held: 4, Every: time.Hour, Now: func() time.Time { return time.Unix(0, 0) }})
	kept := 0
	for range 1000 {
		if w.Append(reply("x")) {
			kept++
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if times, dropped, _ := counted(t, dir); times["x"] != kept || dropped != 1000-kept {
		t.Errorf("%d of %d, %d dropped", times["x"], kept, dropped)
	}
}

func TestNothing(t *testing.T) {
	var none *journal.Writer
	if none.Append(reply("x")) || none.Close() != nil {
		t.Error("a nil Writer keeps events")
	}
	dir := filepath.Join(t.TempDir(), "none")
	if err := journal.New(journal.Options{Dir: dir, Program: "bx"}).Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("a Writer without events makes a folder")
	}
	if n, _, err := journal.Purge(dir, time.Time{}); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// A line that is longer than any event is skipped, and what follows is read.
func TestEndlessLine(t *testing.T) {
	dir := t.TempDir()
	w := journal.New(journal.Options{Dir: dir, Program: "bx"})
	w.Append(reply("1"))
	appendTo(t, filepath.Join(dir, segments(t, dir)[0].Name), strings.Repeat("x", record.MaxLine+record.MaxLine/2)+"\n")
	w.Append(reply("2"))
	if times, _, skipped := counted(t, dir); times["1"] != 1 || times["2"] != 1 || skipped.Broken != 1 {
		t.Errorf("%v, %+v", times, skipped)
	}
}

func BenchmarkAppend(b *testing.B) {
	r := reply("r1")
	r.Time, r.Calls = time.Now(), []record.Call{{Name: "search", Source: "hermes", Fixes: []string{"trailing comma"}}}
	for name, held := range map[string]int{"written": 0, "held": 256} {
		b.Run(name, func(b *testing.B) {
			w := journal.New(journal.Options{Dir: b.TempDir(), Program: "serve", Held: held})
			b.ReportAllocs()
			for b.Loop() {
				w.Append(r)
			}
			_ = w.Close()
		})
	}
}
