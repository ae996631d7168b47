package undo_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp/safefile"
	"github.com/unifiedtoolprotocol/utp/undo"
)

type tree struct {
	dir   string
	root  *os.Root
	store *undo.Store
}

func plant(t interface {
	Fatal(...any)
}, dir, state string) *tree {
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := undo.Open(state, root)
	if err != nil {
		t.Fatal(err)
	}
	return &tree{dir, root, s}
}

// change makes a change as a tool does: noted first.
func (tr *tree) change(turn *undo.Turn, name string, now *undo.File) error {
	var was *undo.File
	if b, err := tr.root.ReadFile(name); err == nil {
		info, err := tr.root.Stat(name)
		if err != nil {
			return err
		}
		was = &undo.File{Data: b, Mode: info.Mode().Perm()}
	}
	temp := safefile.Temp(name)
	if err := turn.Note(name, was, now, temp); err != nil {
		return err
	}
	if now == nil {
		return tr.root.Remove(name)
	}
	return safefile.Replace(tr.root, name, temp, now.Data, now.Mode)
}

// files is everything below the directory: content and mode of files, "/" of directories.
func (tr *tree) files() (map[string]string, error) {
	out := map[string]string{}
	return out, fs.WalkDir(tr.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			out[name] = "/"
			return nil
		}
		b, err := tr.root.ReadFile(name)
		info, err2 := d.Info()
		out[name] = fmt.Sprintf("%v %s", info.Mode(), b)
		return errors.Join(err, err2)
	})
}

// After every turn was taken back the tree is what it was, and doing them again
// leads to each tree that there was.
func TestEveryTurnCanBeTakenBack(t *testing.T) {
	base := t.TempDir()
	n := 0
	checks := flag.Lookup("rapid.checks")
	if before := checks.Value.String(); before == checks.DefValue { // each waits for the disk
		if err := flag.Set("rapid.checks", "15"); err != nil {
			t.Fatal(err)
		}
		defer flag.Set("rapid.checks", before)
	}
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir, state := filepath.Join(base, fmt.Sprint(n)), filepath.Join(base, fmt.Sprint(n, "state"))
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, "d"), 0o777), os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o640),
			os.WriteFile(filepath.Join(dir, "d", "b"), nil, 0o755)); err != nil {
			t.Fatal(err)
		}
		tr := plant(t, dir, state)
		defer tr.root.Close()
		var trees []map[string]string
		look := func() map[string]string {
			f, err := tr.files()
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		trees = append(trees, look())
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			turn, err := tr.store.Begin("s")
			if err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(1, 5).Draw(t, "changes") {
				name := rapid.SampledFrom([]string{"a", "c", "d/b", "e/f/g", "e/h"}).Draw(t, "name")
				_, err := tr.root.Stat(name)
				var now *undo.File
				if err != nil || rapid.Bool().Draw(t, "write") {
					now = &undo.File{Data: []byte(rapid.StringN(0, 5, 20).Draw(t, "data")), Mode: rapid.SampledFrom([]fs.FileMode{0o644, 0o600, 0o755}).Draw(t, "mode")}
				}
				if err := tr.change(turn, name, now); err != nil {
					t.Fatal(err)
				}
			}
			if err := turn.End(); err != nil {
				t.Fatal(err)
			}
			if now := look(); !maps.Equal(now, trees[len(trees)-1]) {
				trees = append(trees, now)
			}
		}
		check := func(i int) {
			if now := look(); !maps.Equal(now, trees[i]) {
				t.Fatalf("tree %d is %v, want %v", i, now, trees[i])
			}
		}
		for i := len(trees) - 2; i >= 0; i-- {
			if r, err := tr.store.Undo(false); err != nil || len(r.Left) > 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			check(i)
		}
		if _, err := tr.store.Undo(false); !errors.Is(err, undo.ErrNothing) {
			t.Fatalf("one more: %v", err)
		}
		for i := 1; i < len(trees); i++ {
			if r, err := tr.store.Redo(false); err != nil || len(r.Left) > 0 {
				t.Fatalf("redo: %+v, %v", r, err)
			}
			files := func(m map[string]string) map[string]string { // a directory that was left empty does not come again
				maps.DeleteFunc(m, func(_, what string) bool { return what == "/" })
				return m
			}
			if now, want := files(look()), files(trees[i]); !maps.Equal(now, want) {
				t.Fatalf("again tree %d is %v, want %v", i, now, want)
			}
		}
		if _, err := tr.store.Redo(false); !errors.Is(err, undo.ErrNothing) {
			t.Fatalf("one more redo: %v", err)
		}
	})
}

func once(t *testing.T, tr *tree, name, data string) {
	t.Helper()
	turn, err := tr.store.Begin("1a2b")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tr.change(turn, name, &undo.File{Data: []byte(data), Mode: 0o644}), turn.End()); err != nil {
		t.Fatal(err)
	}
}

func TestWhatSomebodyElseChangedStays(t *testing.T) {
	tr := plant(t, t.TempDir(), t.TempDir())
	once(t, tr, "a", "one")
	if err := tr.root.WriteFile("a", []byte("by hand"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := tr.store.Undo(false)
	if err != nil || !slices.Equal(r.Left, []string{"a"}) || len(r.Removed) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if b, _ := tr.root.ReadFile("a"); string(b) != "by hand" {
		t.Errorf("a holds %q", b)
	}
	once(t, tr, "a", "two")
	if err := tr.root.WriteFile("a", []byte("by hand again"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := tr.store.Undo(true); err != nil || !slices.Equal(r.Restored, []string{"a"}) {
		t.Errorf("with force: %+v, %v", r, err)
	}
	if b, _ := tr.root.ReadFile("a"); string(b) != "by hand" {
		t.Errorf("a holds %q", b)
	}
}

// contract: X-17
func TestASecondWriterIsToldWhoWrites(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	a, b := plant(t, dir, state), plant(t, dir, state)
	turn, err := a.store.Begin("1a2b")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.store.Begin("3c4d")
	var busy *undo.Busy
	if !errors.As(err, &busy) || busy.Session != "1a2b" || busy.Pid != os.Getpid() || !strings.HasPrefix(err.Error(), "busy: session 1a2b (pid ") {
		t.Errorf("%v", err)
	}
	if err := turn.End(); err != nil {
		t.Fatal(err)
	}
	turn, err = b.store.Begin("3c4d")
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	if err := turn.End(); err != nil {
		t.Error(err)
	}
}

func TestWhatAKilledWriteLeftIsRemoved(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	tr := plant(t, dir, state)
	turn, err := tr.store.Begin("1a2b")
	if err != nil {
		t.Fatal(err)
	}
	temp := safefile.Temp("d/a")
	if err := errors.Join(turn.Note("d/a", nil, &undo.File{Data: []byte("x"), Mode: 0o644}, temp), tr.root.MkdirAll("d", 0o777),
		tr.root.WriteFile(temp, []byte("ha"), 0o644)); err != nil {
		t.Fatal(err)
	}
	undo.Kill(turn)
	plant(t, dir, state)
	if entries, err := os.ReadDir(filepath.Join(dir, path.Dir(temp))); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestDamagedLogsAndFiles(t *testing.T) {
	state := t.TempDir()
	tr := plant(t, t.TempDir(), state)
	once(t, tr, "a", "one")
	once(t, tr, "a", "two")
	logs, _ := filepath.Glob(filepath.Join(state, "*", "*.log"))
	f, err := os.OpenFile(logs[1], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"path":"b","was`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if list, err := tr.store.List(); err != nil || len(list) != 2 || !slices.Equal(list[0].Files, []string{"a"}) {
		t.Errorf("%+v, %v", list, err)
	}
	kept, _ := filepath.Glob(filepath.Join(state, "*", "files", "*"))
	for _, k := range kept {
		if err := os.WriteFile(k, []byte("rot"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tr.store.Undo(false); err == nil {
		t.Error("a damaged file is given out")
	}
	if b, _ := tr.root.ReadFile("a"); string(b) != "two" {
		t.Errorf("a holds %q", b)
	}
}
