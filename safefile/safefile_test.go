package safefile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/safefile"
)

func TestReplaceLeavesTheOldFileWhenItFails(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := safefile.Replace(root, "a/b.txt", safefile.Temp("a/b.txt"), []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := safefile.Replace(root, "a/b.txt/c", safefile.Temp("a/b.txt/c"), []byte("x"), 0); err == nil {
		t.Error("a file below a file: want an error")
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "d", "x"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := safefile.Replace(root, "d", safefile.Temp("d"), []byte("x"), 0); err == nil {
		t.Error("a directory is replaced by a file: want an error")
	}
	if b, err := os.ReadFile(filepath.Join(dir, "a", "b.txt")); string(b) != "one" {
		t.Errorf("%q, %v", b, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("something is left over: %v", entries)
	}
}

func TestALockedFileIsWaitedFor(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := open(), open()
	defer b.Close()
	err := safefile.TryLock(a)
	if errors.Is(err, safefile.ErrNoLocks) {
		t.Skip("this file system has no locks")
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := safefile.Lock(ctx, b); !errors.Is(err, safefile.ErrLocked) {
		t.Errorf("a file that another holds: %v", err)
	}
	a.Close()
	if err := safefile.Lock(t.Context(), b); err != nil {
		t.Errorf("after it was closed: %v", err)
	}
}

func Example() {
	root, err := os.OpenRoot(os.TempDir())
	if err != nil {
		panic(err)
	}
	defer root.Close()
	name := "safefile-example.txt"
	if err := safefile.Replace(root, name, safefile.Temp(name), []byte("whole"), 0); err != nil {
		panic(err)
	}
	b, _ := root.ReadFile(name)
	fmt.Printf("%s %v\n", b, root.Remove(name))
	// Output: whole <nil>
}
