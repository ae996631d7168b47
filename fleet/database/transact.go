package database

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// step is a statement of a transaction, and what reads the lines that it gives.
type step struct {
	text string
	args []any
	read func(scanner) error // nil: it gives none
}

// transaction is one on its way. With PostgreSQL the steps of one call are one
// round trip, with the beginning before the first and the commit after the last.
type transaction struct {
	conn *pgx.Conn // nil: it is one of SQLite's
	file *sql.Tx
	open bool
}

// transact runs f in a transaction. One that f does not commit is rolled back.
func (d *DB) transact(ctx context.Context, pool *sql.DB, f func(t *transaction) error) (err error) {
	if !d.pg {
		return change(ctx, pool, func(tx *sql.Tx) error { return f(&transaction{file: tx}) })
	}
	for range tries {
		if err = attempt(ctx, pool, f); !again(err) {
			return err
		}
	}
	return err
}

func attempt(ctx context.Context, pool *sql.DB, f func(t *transaction) error) error {
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Raw(func(driver any) error {
		conn := driver.(*stdlib.Conn).Conn()
		err := f(&transaction{conn: conn})
		if conn.PgConn().TxStatus() != 'I' {
			_, _ = conn.Exec(ctx, "ROLLBACK") // a connection on which it fails is closed
		}
		return err
	})
}

// do runs steps.
func (t *transaction) do(ctx context.Context, steps ...step) error { return t.send(ctx, false, steps) }

// commit runs the last steps and commits. What they give is no answer yet: the
// commit may fail.
func (t *transaction) commit(ctx context.Context, steps ...step) error {
	return t.send(ctx, true, steps)
}

func (t *transaction) send(ctx context.Context, last bool, steps []step) error {
	if t.conn == nil {
		for _, s := range steps {
			if err := each(ctx, t.file, s); err != nil {
				return err
			}
		}
		return nil // change commits
	}
	var all pgx.Batch
	if !t.open {
		all.Queue("BEGIN")
		t.open = true
	}
	for _, s := range steps {
		all.Queue(s.text, s.args...).Query(func(rows pgx.Rows) error {
			for rows.Next() && s.read != nil {
				if err := s.read(rows); err != nil {
					return err
				}
			}
			return rows.Err()
		})
	}
	if last {
		all.Queue("COMMIT")
	}
	return t.conn.SendBatch(ctx, &all).Close()
}

// asked is *sql.DB or *sql.Tx.
type asked interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// each runs a step by itself and reads what it gives.
func each(ctx context.Context, at asked, s step) error {
	rows, err := at.QueryContext(ctx, s.text, s.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() && s.read != nil {
		if err := s.read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// lines are what a statement does the same with: a table "n" of columns.
type lines struct {
	columns []string // texts, the last `numbers` of them whole numbers
	numbers int
	of      [][]any // string and int64
}

func (l *lines) add(line ...any) { l.of = append(l.of, line) }

// steps have a statement run for all lines, which it finds where {lines} is: with
// PostgreSQL in one step, whatever their number, and with SQLite in one a line.
func (l *lines) steps(d *DB, text string, read func(scanner) error) (out []step) {
	if len(l.of) == 0 {
		return nil
	}
	if !d.pg {
		var named []string
		for i, c := range l.columns {
			named = append(named, "$"+strconv.Itoa(i+1)+" AS "+c)
		}
		text = strings.Replace(text, "{lines}", "(SELECT "+strings.Join(named, ", ")+") AS n", 1)
		for _, line := range l.of {
			out = append(out, step{text, line, read})
		}
		return out
	}
	var arrays []string
	var args []any
	for i := range l.columns {
		place := "$" + strconv.Itoa(i+1)
		if i >= len(l.columns)-l.numbers {
			arrays, args = append(arrays, place+"::bigint[]"), append(args, column[int64](l.of, i))
		} else {
			arrays, args = append(arrays, place+"::text[]"), append(args, column[string](l.of, i))
		}
	}
	return []step{{strings.Replace(text, "{lines}", "unnest("+strings.Join(arrays, ", ")+") AS n ("+strings.Join(l.columns, ", ")+")", 1), args, read}}
}

func column[T any](of [][]any, i int) []T {
	out := make([]T, len(of))
	for at, line := range of {
		out[at] = line[i].(T)
	}
	return out
}
