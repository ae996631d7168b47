package index

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// looks gives the places of words as the database has them: chunk, uses in
// symbols, uses in text.
func looks(t *testing.T, x *Index, words ...string) (got []string) {
	t.Helper()
	err := x.snapshot(context.Background(), func(tx *sql.Tx) error {
		c, err := load(context.Background(), tx)
		if err != nil {
			return err
		}
		for _, w := range words {
			if err := c.look(w); err != nil {
				return err
			}
			for _, f := range c.found {
				got = append(got, fmt.Sprintf("%s: %d %d %d", w, f.chunk, f.uses.symbols, f.uses.text))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// What is written of words is read again: from several parts, without what was
// removed, whatever the number of uses.
func TestPlacesOfWords(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.go", "package a\n\nvar walrusA, walrusB, walrusC, walrusD int\n")
	write(t, dir, "turtle/b.txt", strings.Repeat("walrus ", 300))
	age(t, dir, time.Hour)
	x := open(t, dir, t.TempDir())
	query(t, x, "walrus", 1)
	if d := cmp.Diff([]string{"walrus: 2 4 4", "walrus: 3 0 300", "turtle: 3 0 0"}, looks(t, x, "walrus", "turtle")); d != "" {
		t.Error(d)
	}
	write(t, dir, "turtle/b.txt", "turtles")
	write(t, dir, "c.txt", "Walrus")
	query(t, x, "walrus", 1)
	if d := cmp.Diff([]string{"walrus: 2 4 4", "walrus: 4 0 1", "turtle: 5 0 1"}, looks(t, x, "walrus", "turtle")); d != "" {
		t.Error(d)
	}
}

// An index most of whose chunks were removed is made anew.
func TestAWornIndexIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir, t.TempDir())
	for i := range 20 {
		write(t, dir, "a.txt", fmt.Sprintf("walrus%d", i))
		if got := found(t, x, fmt.Sprintf("walrus%d", i)); got != "a.txt" {
			t.Fatalf("%d: found %q", i, got)
		}
		var gone, parts int
		if err := x.db.QueryRow("SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM parts)").Scan(&gone, &parts); err != nil {
			t.Fatal(err)
		}
		if gone > 1 || parts > 2 {
			t.Fatalf("%d: %d removed chunks and %d parts are kept beside one file", i, gone, parts)
		}
	}
}

// Blobs that nobody wrote are found out, and the index made anew.
func TestABrokenBlobIsMadeAnew(t *testing.T) {
	for _, damage := range []string{
		"UPDATE words SET places = x'80'", "UPDATE words SET places = x'7f04'", "UPDATE words SET places = x'0003'", "UPDATE words SET places = x'ffffffffffffffffff01'",
		"UPDATE parts SET lengths = x'0105010101010101'", "UPDATE parts SET lengths = x''", "UPDATE parts SET dirs = x'0140'",
		"INSERT INTO gone VALUES(1, 1000)",
	} {
		dir := t.TempDir()
		write(t, dir, "a.txt", "walrus")
		age(t, dir, time.Hour)
		x := open(t, dir, t.TempDir())
		query(t, x, "walrus", 1)
		if _, err := x.db.Exec(damage); err != nil {
			t.Fatal(err)
		}
		if got := found(t, x, "walrus"); got != "a.txt" {
			t.Errorf("%s: found %q", damage, got)
		}
	}
}
