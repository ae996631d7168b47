package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/store"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// A file of version 1 opens, with the same messages.
//
// contract: C-06
func TestVersion1IsMigrated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	for _, statement := range []string{
		`CREATE TABLE sessions (id TEXT PRIMARY KEY, root TEXT NOT NULL, model TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL)`,
		`CREATE TABLE messages (session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE, seq INTEGER NOT NULL, role TEXT NOT NULL,
			body TEXT NOT NULL, created INTEGER NOT NULL, PRIMARY KEY (session, seq)) WITHOUT ROWID`,
		`CREATE TABLE current (root TEXT PRIMARY KEY, session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE)`,
		`INSERT INTO sessions VALUES ('0badcafe', '/repo', 'qwen3', 1, 2)`,
		`INSERT INTO current VALUES ('/repo', '0badcafe')`,
		`INSERT INTO messages VALUES ('0badcafe', 1, 'user', '{"role":"user","parts":[{"type":"text","text":"It''s \"where\"?"}]}', 1)`,
		`INSERT INTO messages VALUES ('0badcafe', 2, 'assistant', '{"role":"assistant","parts":[{"type":"text","text":"There."}]}', 1)`,
		`INSERT INTO messages VALUES ('0badcafe', 3, 'user', '{"role":"user","parts":[{"type":"text","text":"And?"}]}', 1)`,
		`INSERT INTO messages VALUES ('0badcafe', 4, 'assistant', '{"role":"assistant","parts":[{"type":"text","text":"Here."}]}', 1)`,
		`PRAGMA user_version = 1`,
	} {
		exec(t, path, statement)
	}
	s, _, err := open(t, path, newClock()).Current(t.Context(), "/repo", 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []utp.Message{utp.NewText(utp.RoleUser, `It's "where"?`), utp.NewText(utp.RoleAssistant, "There."),
		utp.NewText(utp.RoleUser, "And?"), utp.NewText(utp.RoleAssistant, "Here.")}
	if d := cmp.Diff(want, messages(t, s)); d != "" {
		t.Error(d)
	}
	if s.First != `It's "where"?` || s.Count != 4 || s.Broken {
		t.Errorf("%+v", s.Info)
	}
	if open(t, path, newClock()); t.Failed() {
		t.Error("the migrated file does not open again")
	}
}

func TestBrokenTurnShows(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "sessions.db"), newClock())
	s := create(t, db, "/repo")
	say(t, s, utp.NewText(utp.RoleUser, "Where?"))
	broken := func() bool {
		t.Helper()
		s, err := db.Get(t.Context(), s.ID)
		if err != nil {
			t.Fatal(err)
		}
		return s.Broken
	}
	if !broken() {
		t.Error("a question without an end does not show")
	}
	for _, end := range []transcript.Reason{transcript.Stopped, transcript.Answered} {
		if err := s.Append(t.Context(), transcript.Entry{Kind: transcript.End, Reason: end}); err != nil {
			t.Fatal(err)
		}
		if broken() != (end == transcript.Stopped) {
			t.Errorf("after %s: %v", end, broken())
		}
	}
}

func TestSearchForkAndDelete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	db := open(t, path, newClock())
	a, b := create(t, db, "/repo"), create(t, db, "/other")
	say(t, a, turn(`Where is "100%_done" <set>?`, "In auth.go:1.")...)
	say(t, b, turn("Where is main?", "It is secret42.")...)
	for _, c := range []struct{ root, text, want string }{
		{"/repo", `"100%_DONE" <set>`, a.ID}, {"", "secret42", b.ID}, {"/repo", "secret42", ""}, {"", "100_", ""}, {"", "auth.go:1", a.ID + " " + b.ID}, {"", "search_code", a.ID + " " + b.ID},
	} {
		hits, err := db.Search(t.Context(), c.root, c.text, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.ID)
			if !strings.Contains(strings.ToLower(h.Text), strings.ToLower(c.text)) {
				t.Errorf("%s: found in %q", c.text, h.Text)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s in %s: %v, want %s", c.text, c.root, got, c.want)
		}
	}

	fork, err := db.Fork(t.Context(), b, 3)
	if err != nil || fork.ID == b.ID || fork.Root != "/other" {
		t.Fatal(fork, err)
	}
	if log, err := fork.Entries(t.Context()); err != nil || len(log) != 3 {
		t.Errorf("the fork has %d entries (%v), want 3", len(log), err)
	}
	for _, s := range []*store.Session{b, fork} {
		if err := db.Delete(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Get(t.Context(), b.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after it was removed: %v", err)
	}
	for _, name := range []string{path, path + "-wal"} {
		if file, err := os.ReadFile(name); err == nil && strings.Contains(string(file), "secret42") {
			t.Errorf("%s still holds what was removed", name)
		}
	}
}

// Sessions go by age, then the oldest by size; the newest stays.
func TestOldSessionsArePruned(t *testing.T) {
	c := newClock()
	db := open(t, filepath.Join(t.TempDir(), "sessions.db"), c)
	var ids []string
	for range 5 {
		s := create(t, db, "/repo")
		say(t, s, utp.NewText(utp.RoleUser, strings.Repeat("long ", 100_000)))
		ids = append(ids, s.ID)
		c.pass(24 * time.Hour)
	}
	removed, err := db.Prune(t.Context(), 4*24*time.Hour, 1<<20)
	list, listErr := db.List(t.Context(), "", 10)
	if err != nil || listErr != nil || removed != 3 || len(list) != 2 || list[0].ID != ids[4] {
		t.Errorf("removed %d (%v, %v), left %+v", removed, err, listErr, list)
	}
	if _, err := db.Prune(t.Context(), time.Hour*1000, 1); err != nil {
		t.Fatal(err)
	}
	if list, _ := db.List(t.Context(), "", 10); len(list) != 1 || list[0].ID != ids[4] {
		t.Errorf("the newest is gone: %+v", list)
	}
}

// One process at a time answers in a session; one that died holds nothing.
func TestOneTurnAtATime(t *testing.T) {
	s := create(t, open(t, filepath.Join(t.TempDir(), "sessions.db"), newClock()), "/repo")
	lives := map[int]bool{10: true, 20: true}
	alive := func(pid int) bool { return lives[pid] }
	take := func(pid int) error { return s.Take(t.Context(), pid, alive) }
	if err := take(10); err != nil {
		t.Fatal(err)
	}
	var busy *store.Busy
	if err := take(20); !errors.As(err, &busy) || busy.PID != 10 || !strings.Contains(err.Error(), "process 10") {
		t.Errorf("the second process: %v", err)
	}
	lives[10] = false
	if err := take(20); err != nil {
		t.Errorf("after the first died: %v", err)
	}
	lives[10] = true
	if err := s.Free(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	if err := take(10); err != nil {
		t.Errorf("after it was freed: %v", err)
	}
}
