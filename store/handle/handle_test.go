package handle

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)} }

// both runs a test on a store in a directory and on one in memory.
func both(t *testing.T, f func(t *testing.T, s *Store, c *clock)) {
	for name, dir := range map[string]string{"directory": filepath.Join(t.TempDir(), "results"), "memory": ""} {
		c := newClock()
		t.Run(name, func(t *testing.T) { f(t, Open(dir, c.now), c) })
	}
}

func put(t *testing.T, s *Store, root, text string) string {
	t.Helper()
	id, err := s.Put(root, "grep x", text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// contract: TE-08 CON-37
func TestResultsComeBackByteForByte(t *testing.T) {
	both(t, func(t *testing.T, s *Store, c *clock) {
		for _, text := range []string{"", "a\n", "no end", "\n\n{\"v\":1}\n", "\x00\xff", strings.Repeat("long line\n", 1000)} {
			id := put(t, s, "/r", text)
			got, info, err := s.Get("/r", id)
			if err != nil || got != text || info.Size != len(text) || info.Cmd != "grep x" || info.ID != id || !info.Made.Equal(c.at) {
				t.Errorf("Get = %q, %+v, %v, want %q", got, info, err, text)
			}
			if again := put(t, s, "/r", text); again != id {
				t.Errorf("put again: %s, want %s", again, id)
			}
		}
	})
}

func TestAResultBelongsToItsRoot(t *testing.T) {
	both(t, func(t *testing.T, s *Store, _ *clock) {
		id, other := put(t, s, "/r", "text"), put(t, s, "/r/below", "text")
		if id == other {
			t.Fatal("two roots share a handle")
		}
		for _, root := range []string{"/r/below", "/", "", "/r/"} {
			if _, _, err := s.Get(root, id); !errors.Is(err, ErrNone) {
				t.Errorf("Get from %q: %v, want ErrNone", root, err)
			}
		}
		list, err := s.List("/r")
		if err != nil || len(list) != 1 || list[0].ID != id {
			t.Errorf("List = %+v, %v, want %s alone", list, err, id)
		}
	})
}

func TestHandlesThatAreNone(t *testing.T) {
	both(t, func(t *testing.T, s *Store, _ *clock) {
		for _, id := range []string{"", "res_", "res_000000000000", "res_../../../etc", "res_0123456789AB", "0123456789ab"} {
			if _, _, err := s.Get("/r", id); !errors.Is(err, ErrNone) {
				t.Errorf("Get(%q): %v, want ErrNone", id, err)
			}
		}
	})
}

// contract: CON-37
func TestOldResultsGoAndYoungOnesStay(t *testing.T) {
	both(t, func(t *testing.T, s *Store, c *clock) {
		big := func(n int) string { return strconv.Itoa(n) + strings.Repeat("x", 60<<10) }
		s.capacity = 256 << 10
		var ids []string
		for i := range 5 { // 300 KB, all of them young
			ids = append(ids, put(t, s, "/r", big(i)))
			c.at = c.at.Add(5 * time.Minute)
		}
		for _, id := range ids {
			if _, _, err := s.Get("/r", id); err != nil {
				t.Fatalf("%s went while it was young", id)
			}
		}
		c.at = c.at.Add(2 * time.Hour)
		last := put(t, s, "/r", "small")
		for i, id := range ids {
			_, _, err := s.Get("/r", id)
			if gone := errors.Is(err, ErrNone); gone != (i == 0) {
				t.Errorf("result %d of 5 is gone: %v, want the oldest gone alone", i, gone)
			}
		}
		c.at = c.at.Add(maxAge + time.Minute)
		if _, _, err := s.Get("/r", last); !errors.Is(err, ErrNone) {
			t.Errorf("Get after 7 days: %v, want ErrNone", err)
		}
		put(t, s, "/r", "another")
		if list, err := s.List("/r"); err != nil || len(list) != 1 {
			t.Errorf("List = %+v, %v, want the new one alone", list, err)
		}
		if s.dir == "" {
			return
		}
		if files, err := s.kept(); err != nil || len(files) != 1 {
			t.Errorf("%d files on the disk after a week, %v, want the new one alone", len(files), err)
		}
	})
}

func TestTooLongResultsAreRefused(t *testing.T) {
	both(t, func(t *testing.T, s *Store, _ *clock) {
		if _, err := s.Put("/r", "c", strings.Repeat("x", MaxSize+1)); !errors.Is(err, ErrTooLarge) {
			t.Errorf("Put: %v, want ErrTooLarge", err)
		}
	})
}

// An old file may be on the list of another process that removes, so its
// handle is not given out again.
func TestAnOldResultGetsANewHandle(t *testing.T) {
	c := newClock()
	s := Open(t.TempDir(), c.now)
	id := put(t, s, "/r", "text")
	c.at = c.at.Add(reused / 2)
	if again := put(t, s, "/r", "text"); again != id {
		t.Errorf("after %v: %s, want %s", reused/2, again, id)
	}
	c.at = c.at.Add(reused + time.Minute)
	again := put(t, s, "/r", "text")
	if again == id {
		t.Error("the handle of an old result was given out again")
	}
	if text, _, err := s.Get("/r", again); err != nil || text != "text" {
		t.Errorf("Get = %q, %v", text, err)
	}
}

func TestTakenDigitsAndDamage(t *testing.T) {
	c := newClock()
	s := Open(t.TempDir(), c.now)
	first := number("text", 0)
	if err := os.WriteFile(s.path(first), []byte("{\"v\":1,\"root\":\"/r\",\"size\":4,\"fnv128a\":\"0\"}\nsome"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get("/r", first); !errors.Is(err, ErrNone) {
		t.Errorf("a damaged file: %v, want ErrNone", err)
	}
	id := put(t, s, "/r", "text")
	if text, _, err := s.Get("/r", id); id == first || err != nil || text != "text" {
		t.Errorf("Get(%s) = %q, %v, want other digits than %s, which are taken", id, text, err, first)
	}
}

func TestFilesAreForTheUserAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no mode bits")
	}
	dir := filepath.Join(t.TempDir(), "results")
	s := Open(dir, time.Now)
	put(t, s, "/r", "text")
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if info, _ := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The variable makes the test binary a process that keeps results until it is
// killed. It prints each handle.
const worker = "HANDLE_WORKER"

// little is less than the workers keep.
const little = 1 << 20

func TestMain(m *testing.M) {
	if at := os.Getenv(worker); at != "" {
		dir, name, _ := strings.Cut(at, "|")
		s := Open(dir, time.Now)
		s.capacity = little
		for i := 0; ; i++ {
			id, err := s.Put("/r", "c", body(name, i))
			fmt.Println(id, i, err)
		}
	}
	os.Exit(m.Run())
}

func body(name string, i int) string {
	return strings.Repeat(fmt.Sprintf("%s %d\n", name, i), 1+i%300)
}

// Eight processes fill one directory, which holds too much all the time, and
// are killed while they write.
//
// contract: TE-08 CON-37
func TestEveryHandleGivenOpens(t *testing.T) {
	const each = 1000
	dir := t.TempDir()
	s := Open(dir, time.Now)
	s.capacity = little
	makeOld(t, s, 0, 40)
	s.clean()
	kept, err := s.kept()
	if err != nil || len(kept) != 0 {
		t.Fatalf("%d old files stay, %v, want none: each is longer than the capacity", len(kept), err)
	}
	var workers []*exec.Cmd
	var lines []*bufio.Scanner
	for n := range 8 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|w%d", worker, dir, n))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		workers, lines = append(workers, cmd), append(lines, bufio.NewScanner(out))
	}
	given := map[string]string{}
	for n, l := range lines {
		for i := 0; i < each && l.Scan(); i++ {
			var id, failure string
			var k int
			if _, err := fmt.Sscan(l.Text(), &id, &k, &failure); err != nil || failure != "<nil>" {
				t.Fatalf("worker %d says %q", n, l.Text())
			}
			given[id] = body(fmt.Sprintf("w%d", n), k)
			if i%100 == 0 { // there is too much again, and whoever writes next removes it
				makeOld(t, s, 40+len(given), 5)
				if err := os.Remove(filepath.Join(dir, ".cleaned")); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
		}
		workers[n].Process.Kill()
	}
	for _, w := range workers {
		w.Wait()
	}
	if len(given) != 8*each {
		t.Errorf("%d handles, want %d", len(given), 8*each)
	}
	for id, want := range given {
		if got, _, err := s.Get("/r", id); err != nil || got != want {
			t.Fatalf("Get(%s): %v, %d bytes, want %d", id, err, len(got), len(want))
		}
	}
	if err := os.Remove(filepath.Join(dir, ".cleaned")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s.clean()
	all, err := s.kept()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if _, _, err := s.read(f.id); err != nil {
			t.Errorf("%s is no whole file, or one of two hours ago: %v", f.id, err)
		}
	}
}

// makeOld adds n files of 10 MB and two hours ago, without using the disk: they
// are holes.
func makeOld(t *testing.T, s *Store, from, n int) {
	t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	for i := from; i < from+n; i++ {
		name := s.path(fmt.Sprintf("res_%012x", i))
		err := errors.Join(os.WriteFile(name, nil, 0o600), os.Truncate(name, 10<<20), os.Chtimes(name, old, old))
		if err != nil {
			t.Fatal(err)
		}
	}
}
