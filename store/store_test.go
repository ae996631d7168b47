package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/store"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

var _ agent.Session = (*store.Session)(nil)

// clock is a time that the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }

func (c *clock) pass(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.at = c.at.Add(d) }

// counter gives ids that share their first digits.
func counter() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("%08x", 0xab000000+n) }
}

func open(t *testing.T, path string, c *clock) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{Path: path, NewID: counter(), Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func create(t *testing.T, db *store.DB, root string) *store.Session {
	t.Helper()
	s, err := db.Create(t.Context(), root, "qwen3")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func say(t *testing.T, s *store.Session, ms ...utp.Message) {
	t.Helper()
	if err := s.Append(t.Context(), entries(ms...)...); err != nil {
		t.Fatal(err)
	}
}

// entries are messages as a log: a question opens a turn.
func entries(ms ...utp.Message) (log []transcript.Entry) {
	for i := range ms {
		kind := transcript.Message
		if ms[i].Role == utp.RoleUser {
			kind = transcript.Question
		}
		log = append(log, transcript.Entry{Kind: kind, Message: &ms[i]})
	}
	return log
}

// messages are those of the session's log.
func messages(t *testing.T, s *store.Session) []utp.Message {
	t.Helper()
	log, err := s.Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return transcript.Messages(log)
}

// turn is a question with a call and its answer.
func turn(question, answer string) []utp.Message {
	c := utp.Call{ID: "call_1_1", Name: "search_code", Args: []byte(`{"query":"auth"}`), Source: "text:hermes",
		Fixes: []utp.Fix{{Path: "/query", Why: "trailing comma"}}}
	return []utp.Message{
		utp.NewText(utp.RoleUser, question),
		{Role: utp.RoleAssistant, Parts: []utp.Part{utp.Think{Text: "hm", Signature: "s"}, c}},
		{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(c, utp.StatusOK, "auth.go:1")}},
		utp.NewText(utp.RoleAssistant, answer),
	}
}

// contract: C-06 A-18
func TestMessagesComeBackAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%41", "sessions.db")
	c := newClock()
	db := open(t, path, c)
	s := create(t, db, "/repo")
	say(t, s, turn("Where is auth?", "In auth.go:1.")...)
	say(t, s, turn("And who calls it?", "main.go:7 does.")...)
	db.Close()

	again, err := open(t, path, c).Get(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	got := messages(t, again)
	want := append(turn("Where is auth?", "In auth.go:1."), turn("And who calls it?", "main.go:7 does.")...)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	if again.Count != 8 || again.First != "Where is auth?" || again.Model != "qwen3" || again.Root != "/repo" {
		t.Fatalf("info: %+v", again.Info)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal("the file is not where it was asked for:", err)
	}
}

// contract: C-06
func TestOnlyTheUserMayReadTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	db := open(t, path, newClock())
	say(t, create(t, db, ""), turn("q", "a")...)
	for _, name := range []string{path, path + "-wal"} {
		st, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", name, st.Mode().Perm())
		}
	}
}

// contract: C-06
func TestCurrentSession(t *testing.T) {
	c := newClock()
	db := open(t, filepath.Join(t.TempDir(), "sessions.db"), c)
	if _, _, err := db.Current(t.Context(), "/repo", time.Hour); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("no session yet: %v, want ErrNotFound", err)
	}
	old, other := create(t, db, "/repo"), create(t, db, "/elsewhere")
	fresh := create(t, db, "/repo")
	current := func(root string) string {
		t.Helper()
		s, _, err := db.Current(t.Context(), root, 0)
		if err != nil {
			t.Fatal(err)
		}
		return s.ID
	}
	if got := current("/repo"); got != fresh.ID {
		t.Errorf("current is %s, want the newest, %s", got, fresh.ID)
	}
	if got := current("/elsewhere"); got != other.ID {
		t.Errorf("current of the other root is %s, want %s", got, other.ID)
	}
	if err := db.Use(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if got := current("/repo"); got != old.ID {
		t.Errorf("current is %s, want the one used, %s", got, old.ID)
	}
}

// contract: C-06
func TestStaleAfterMaxAge(t *testing.T) {
	c := newClock()
	db := open(t, filepath.Join(t.TempDir(), "sessions.db"), c)
	s := create(t, db, "")
	stale := func() bool {
		t.Helper()
		_, is, err := db.Current(t.Context(), "", 4*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	c.pass(4 * time.Hour)
	if stale() {
		t.Error("stale at 4 h, want only after")
	}
	c.pass(time.Second)
	if !stale() {
		t.Error("not stale after 4 h")
	}
	say(t, s, utp.NewText(utp.RoleUser, "still there?"))
	if stale() {
		t.Error("stale right after a message")
	}
	c.pass(1000 * time.Hour)
	if _, is, _ := db.Current(t.Context(), "", 0); is {
		t.Error("stale without a maximum age")
	}
}

// contract: C-06
func TestGetByPrefix(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "sessions.db"), newClock())
	var ids []string
	for range 17 {
		ids = append(ids, create(t, db, "").ID) // ab000001 … ab000011
	}
	for _, c := range []struct {
		give, want string
		err        error
	}{
		{ids[2], ids[2], nil},
		{"AB000003", ids[2], nil},
		{"ab00001", "", store.ErrAmbiguous},
		{"ab", "", store.ErrAmbiguous},
		{"cd", "", store.ErrNotFound},
		{"", "", store.ErrNotFound},
		{"%", "", store.ErrNotFound},
		{"ab0000111", "", store.ErrNotFound},
	} {
		s, err := db.Get(t.Context(), c.give)
		if !errors.Is(err, c.err) || err == nil && s.ID != c.want {
			t.Errorf("Get(%q) = %v, %v; want %s, %v", c.give, s, err, c.want, c.err)
		}
	}
	lone := open(t, filepath.Join(t.TempDir(), "sessions.db"), newClock())
	s := create(t, lone, "")
	if got, err := lone.Get(t.Context(), "a"); err != nil || got.ID != s.ID {
		t.Errorf("a unique prefix: %v, %v", got, err)
	}
	if _, err := db.Get(t.Context(), "ab00001"); !strings.Contains(err.Error(), "ab000010, ab000011") &&
		!strings.Contains(err.Error(), "ab000011, ab000010") {
		t.Errorf("the error does not list the choices: %v", err)
	}
}

// contract: C-06
func TestListNewestFirst(t *testing.T) {
	c := newClock()
	db := open(t, filepath.Join(t.TempDir(), "sessions.db"), c)
	var made []*store.Session
	for i := range 12 {
		c.pass(time.Minute)
		s := create(t, db, "")
		say(t, s, turn(fmt.Sprint("question ", i), "a")...)
		made = append(made, s)
	}
	c.pass(time.Minute)
	say(t, made[3], utp.NewText(utp.RoleUser, "again"))
	list, err := db.List(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 10 || list[0].ID != made[3].ID || list[1].ID != made[11].ID || list[9].ID != made[2].ID {
		t.Errorf("list: %+v", list)
	}
	if list[0].First != "question 3" || list[0].Count != 5 || !list[0].Updated.Equal(c.now()) {
		t.Errorf("first line: %+v", list[0])
	}
}

// contract: C-06
func TestLastExchange(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "sessions.db"), newClock())
	s := create(t, db, "")
	if _, err := s.Last(t.Context()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nothing asked: %v, want ErrNotFound", err)
	}
	say(t, s, append(turn("one", "1"), turn("two", "2")...)...)
	x, err := s.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if x.Question != "two" || x.Answer != "2" || len(x.Messages) != 4 {
		t.Errorf("last: %+v", x)
	}
}

// contract: C-06
func TestBrokenFiles(t *testing.T) {
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	os.WriteFile(garbage, []byte(strings.Repeat("this is no database\n", 100)), 0o600)
	newer := filepath.Join(dir, "newer.db")
	open(t, newer, newClock()).Close()
	exec(t, newer, "PRAGMA user_version = 99")
	os.Mkdir(filepath.Join(dir, "adir"), 0o700)
	os.WriteFile(filepath.Join(dir, "afile"), nil, 0o600)
	for _, c := range []struct {
		path string
		is   error
		text string
	}{
		{garbage, store.ErrDamaged, "Rename or delete it"},
		{newer, store.ErrNewer, "Update this program"},
		{filepath.Join(dir, "adir"), nil, "adir"},
		{filepath.Join(dir, "afile", "x.db"), nil, "afile"},
	} {
		_, err := store.Open(t.Context(), store.Config{Path: c.path, NewID: counter(), Now: time.Now})
		var e *store.Error
		if !errors.As(err, &e) || e.Path != c.path || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v, want an Error with the path", c.path, err)
			continue
		}
		if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %v and %q", c.path, err, c.is, c.text)
		}
	}
}

// contract: C-06
func TestDamageFoundLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	db := open(t, path, newClock())
	s := create(t, db, "")
	say(t, s, turn("q", "a")...)
	exec(t, path, `UPDATE entries SET body = '{"kind":"question","message":{"role":"user","parts":[{"type":"wat"}]}}' WHERE n = 1`)
	_, err := s.Entries(t.Context())
	if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "entry 1") || !strings.Contains(err.Error(), s.ID) {
		t.Errorf("a message that cannot be read: %v", err)
	}
	db.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 100; i < len(b); i++ {
		b[i] = 0x5a
	}
	os.WriteFile(path, b, 0o600)
	_, err = store.Open(t.Context(), store.Config{Path: path, NewID: counter(), Now: time.Now})
	if !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a file with spoilt pages: %v, want ErrDamaged", err)
	}
}

// contract: C-06
func TestAppendIsAllOrNothing(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "sessions.db"), newClock())
	s := create(t, db, "")
	bad := utp.Message{Role: utp.RoleUser, Parts: []utp.Part{nil}}
	if err := s.Append(t.Context(), entries(utp.NewText(utp.RoleUser, "ok"), bad)...); err == nil {
		t.Fatal("a message that cannot be written was taken")
	}
	if log, err := s.Entries(t.Context()); err != nil || len(log) != 0 {
		t.Errorf("half of it was kept: %v, %v", log, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Append(ctx, entries(utp.NewText(utp.RoleUser, "late"))...); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v, want Canceled", err)
	}
}

// contract: C-06
func TestWritersShareTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	c := newClock()
	s := create(t, open(t, path, c), "")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			db, err := store.Open(t.Context(), store.Config{Path: path, NewID: counter(), Now: c.now})
			if err != nil {
				t.Error(err)
				return
			}
			defer db.Close()
			mine, err := db.Get(t.Context(), s.ID)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 10 {
				if err := mine.Append(t.Context(), entries(utp.NewText(utp.RoleUser, fmt.Sprint(i)))...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if log, err := s.Entries(t.Context()); err != nil || len(log) != 80 {
		t.Errorf("%d entries (%v), want 80", len(log), err)
	}
}

// contract: C-06
func TestIDsAreTriedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	ids := []string{"aaaaaaaa", "aaaaaaaa", "bbbbbbbb"}
	next := func() string { id := ids[0]; ids = append(ids[1:], id); return id }
	db, err := store.Open(t.Context(), store.Config{Path: path, NewID: next, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if a, b := create(t, db, ""), create(t, db, ""); a.ID != "aaaaaaaa" || b.ID != "bbbbbbbb" {
		t.Errorf("ids %s, %s", a.ID, b.ID)
	}
	if _, err := db.Create(t.Context(), "", ""); err == nil || !strings.Contains(err.Error(), "no free id") {
		t.Errorf("ids ran out: %v", err)
	}
}

func TestOpenWantsItsSources(t *testing.T) {
	if _, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "x")}); err == nil {
		t.Error("opened without a clock and ids")
	}
}
