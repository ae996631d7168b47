// Package stats adds up what happened: an index of the segments of package
// journal in SQLite, each event in it once, and what can be asked of it.
//
// The index is only an extract. It may be deleted at any time and is made again
// from the segments; one that cannot be read is replaced. Sums are kept by the
// hour, so that no question reads all events.
package stats

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/record"
)

//go:embed schema.sql
var schema string

// version of schema.sql. An index of another one is made anew.
const version = 2

// Index is the index of a folder of segments.
type Index struct {
	db   *sql.DB
	dir  string
	unit int64 // seconds that are summed up together: an hour, but for Recent
}

// Notes are what of the segments is not in the figures.
type Notes struct {
	Skipped record.Skipped `json:"skipped,omitzero"`
	Dropped int            `json:"dropped,omitempty"` // events that their programs could not write
}

// Open opens the index in a file, of the segments in dir. "" for the file is one
// in memory.
func Open(ctx context.Context, file, dir string) (*Index, error) {
	x, err := open(ctx, file, dir)
	if err == nil || file == "" {
		return x, err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if e := os.Remove(file + suffix); e != nil && !errors.Is(e, os.ErrNotExist) {
			return nil, fmt.Errorf("stats: %w", err)
		}
	}
	return open(ctx, file, dir)
}

func open(ctx context.Context, file, dir string) (*Index, error) {
	name := ":memory:"
	if file != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return nil, fmt.Errorf("stats: %w", err)
		}
		name = "file:" + filepath.ToSlash(file) + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_txlock=immediate"
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("stats: %w", err)
	}
	db.SetMaxOpenConns(1)
	x := &Index{db, dir, hourUnit}
	if err := x.prepare(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("stats: %s: %w", file, err)
	}
	if file != "" {
		_ = os.Chmod(file, 0o600)
	}
	return x, nil
}

func (x *Index) prepare(ctx context.Context) error {
	var v int
	if err := x.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v); err != nil {
		return err
	}
	if v == version {
		return nil
	}
	if v != 0 {
		return fmt.Errorf("it is of version %d, and %d is wanted", v, version)
	}
	return x.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, schema+fmt.Sprintf("PRAGMA user_version = %d;", version))
		return err
	})
}

// Close closes the index.
func (x *Index) Close() error { return x.db.Close() }

func (x *Index) change(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// Sync takes what is new in the segments, and forgets those that are gone. What
// it says of them holds for all that is in the index.
func (x *Index) Sync(ctx context.Context) (Notes, error) {
	all, err := journal.List(x.dir)
	if err != nil {
		return Notes{}, err
	}
	if err := x.forget(ctx, all); err != nil {
		return Notes{}, fmt.Errorf("stats: %w", err)
	}
	for _, s := range all {
		for more := true; more; {
			if more, err = x.take(ctx, s); err != nil {
				return Notes{}, fmt.Errorf("stats: %s: %w", s.Name, err)
			}
		}
	}
	var n Notes
	err = x.db.QueryRowContext(ctx, "SELECT coalesce(sum(broken),0), coalesce(sum(newer),0), coalesce(sum(kinds),0), coalesce(sum(dropped),0) FROM segments").
		Scan(&n.Skipped.Broken, &n.Skipped.Newer, &n.Skipped.Kinds, &n.Dropped)
	return n, err
}

// forget drops what came from segments that are not there any more.
func (x *Index) forget(ctx context.Context, all []journal.Segment) error {
	rows, err := x.db.QueryContext(ctx, "SELECT name FROM segments")
	if err != nil {
		return err
	}
	var gone []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			_ = rows.Close()
			return err
		}
		if !slices.ContainsFunc(all, func(s journal.Segment) bool { return s.Name == name }) {
			gone = append(gone, name)
		}
	}
	if err := cmp.Or(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, name := range gone {
		err := x.change(ctx, func(tx *sql.Tx) error {
			for _, table := range []string{"replies", "hours", "tools", "runs", "words", "commands"} {
				if _, err := tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE segment = ?", name); err != nil {
					return err
				}
			}
			_, err := tx.ExecContext(ctx, "DELETE FROM segments WHERE name = ?", name)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// maxTake is how many events are taken in one transaction.
const maxTake = 5000

// take reads what is new of a segment, and says whether there may be more.
func (x *Index) take(ctx context.Context, s journal.Segment) (more bool, err error) {
	err = x.change(ctx, func(tx *sql.Tx) error {
		var from int64
		err := tx.QueryRowContext(ctx, "SELECT read FROM segments WHERE name = ?", s.Name).Scan(&from)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if from >= s.Size {
			return nil
		}
		b, n, dropped := batch{ctx: ctx, tx: tx, segment: s.Name, unit: x.unit}, 0, 0
		var failed error
		next, skipped, err := journal.Read(x.dir, s.Name, from, func(_ int64, e record.Event) bool {
			if n == maxTake || failed != nil {
				more = failed == nil
				return false
			}
			n++
			switch e := e.(type) {
			case record.Reply:
				failed = b.reply(e)
			case record.Command:
				b.command(e)
			case record.Dropped:
				dropped += e.Count
			}
			return true
		})
		if err = cmp.Or(failed, err); err != nil {
			return err
		}
		if err := b.write(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO segments (name, read, broken, newer, kinds, dropped) VALUES (?,?,?,?,?,?)
			ON CONFLICT (name) DO UPDATE SET read = excluded.read, broken = broken + excluded.broken, newer = newer + excluded.newer,
			kinds = kinds + excluded.kinds, dropped = dropped + excluded.dropped`, s.Name, next, skipped.Broken, skipped.Newer, skipped.Kinds, dropped)
		return err
	})
	return more, err
}

// hourUnit and minuteUnit are the seconds of an hour and of a minute.
const (
	hourUnit   = 3600
	minuteUnit = 60
)

// hour is the number of the hour since 1970, or of whatever is summed up together.
func (x *Index) hour(t time.Time) int64 { return t.Unix() / x.unit }

// Recent is an index in memory of the replies of a short time, summed up by the
// minute. What asks it counts minutes where it would count hours.
func (x *Index) Recent(ctx context.Context, since, until time.Time) (*Index, error) {
	y, err := open(ctx, "", x.dir)
	if err != nil {
		return nil, err
	}
	y.unit = minuteUnit
	err = y.change(ctx, func(tx *sql.Tx) error {
		b := batch{ctx: ctx, tx: tx, unit: y.unit}
		err := x.each(ctx, "SELECT seq, outcome, line FROM replies WHERE time >= ? AND time <= ? ORDER BY time", []any{since.UnixMicro(), until.UnixMicro()}, func(scan func(...any) error) error {
			s, err := seen(scan)
			return cmp.Or(err, b.reply(s.Reply))
		})
		return cmp.Or(err, b.write())
	})
	if err != nil {
		_ = y.Close()
		return nil, fmt.Errorf("stats: %w", err)
	}
	return y, nil
}
