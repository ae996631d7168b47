// Package database keeps the State and the Ledger of package fleet in SQL: in a
// file of SQLite for one machine, in PostgreSQL for several.
package database

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver

	"github.com/unifiedtoolprotocol/utp/fleet"
)

//go:embed schema.sql
var schema string

// migrations make the tables of a version of those before it. Each runs once,
// while replicas of older versions are at work: it adds tables, and columns that
// have a default, and changes nothing that they read or write.
var migrations = []string{schema}

// DB is a fleet.Ledger and a fleet.State.
type DB struct {
	safe  *sql.DB // a commit is on the disk when it is over
	loose *sql.DB // the last commits may be lost with the machine
	pg    bool
	newID func() string

	books    turns[*ask]
	reserved reserved
	visits   turns[*entering]
	texts    texts
}

var (
	_ fleet.Ledger = (*DB)(nil)
	_ fleet.State  = (*DB)(nil)
)

// Connections to a server, for each of the two pools, and how long they live.
const (
	maxConns = 16
	connLife = 30 * time.Minute
)

// Open opens a database and brings its tables up to date: "sqlite:PATH", or
// "postgres://USER@HOST/NAME" with anything that libpq's addresses may have. newID
// makes ids for the lines of the audit.
func Open(ctx context.Context, address string, newID func() string) (*DB, error) {
	d := &DB{newID: newID}
	d.books.do, d.books.id = d.together, (*ask).id
	d.visits.do, d.visits.id, d.visits.gap = d.enterAll, (*entering).id, enterEvery
	var err error
	if path, isFile := strings.CutPrefix(address, "sqlite:"); isFile {
		err = d.openFile(path)
	} else if d.pg = strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://"); d.pg {
		err = d.openServer(address)
	} else {
		err = errors.New(`want "sqlite:PATH" or "postgres://USER@HOST/NAME"`)
	}
	if err != nil {
		return nil, err
	}
	d.spellRates()
	if err := d.migrate(ctx, migrations); err != nil {
		return nil, errors.Join(advised(address, err), d.Close())
	}
	return d, nil
}

// advised says of an error at the start what to do about it.
func advised(address string, err error) error {
	var theirs *pgconn.PgError
	path, isFile := strings.CutPrefix(address, "sqlite:")
	switch {
	case isFile:
		return fmt.Errorf("%s: %w", path, err)
	case errors.As(err, &theirs) && theirs.Code == "42501":
		return fmt.Errorf("%w: the user of the address must be able to make tables: let it own the database (CREATE DATABASE bx OWNER bx)", err)
	case errors.As(err, &theirs) && theirs.Code == "53300":
		return fmt.Errorf("%w: each replica holds up to %d connections: raise max_connections of PostgreSQL", err, 2*maxConns)
	}
	return err
}

func (d *DB) openFile(path string) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // SQLite gives its side files the same mode
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	name := (&url.URL{Scheme: "file", Path: slashed}).String() + "?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=secure_delete(1)&_pragma=synchronous"
	if d.safe, err = sql.Open("sqlite", name+"(FULL)"); err != nil {
		return err
	}
	if d.loose, err = sql.Open("sqlite", name+"(NORMAL)"); err != nil {
		return err
	}
	for _, pool := range []*sql.DB{d.safe, d.loose} {
		pool.SetMaxOpenConns(4)
	}
	return nil
}

func (d *DB) openServer(address string) error {
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return errors.New("the address cannot be read: want postgres://USER:PASSWORD@HOST/NAME, signs such as @, / and % of a password as %40, %2F, %25") // the error of pgx may show it
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 3 * time.Second
	}
	d.safe = stdlib.OpenDB(*c)
	lax := c.Copy()
	lax.RuntimeParams["synchronous_commit"] = "off"
	d.loose = stdlib.OpenDB(*lax)
	for _, pool := range []*sql.DB{d.safe, d.loose} {
		pool.SetMaxOpenConns(maxConns)
		pool.SetMaxIdleConns(maxConns)
		pool.SetConnMaxLifetime(connLife)
	}
	return nil
}

// Close closes it.
func (d *DB) Close() error { return errors.Join(d.safe.Close(), d.loose.Close()) }

// Ping asks whether the database is there.
func (d *DB) Ping(ctx context.Context) error {
	var one int
	return d.safe.QueryRowContext(ctx, "SELECT 1").Scan(&one)
}

// lockNumber is that of the advisory lock under which replicas migrate.
const lockNumber = 0x6278 // "bx"

// migrate runs what has not run yet. A database of a later version is used as it
// is: see migrations.
func (d *DB) migrate(ctx context.Context, steps []string) error {
	return change(ctx, d.safe, func(tx *sql.Tx) error {
		if d.pg {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", lockNumber); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS bx_version (version bigint NOT NULL)"); err != nil {
			return err
		}
		var found int
		if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM bx_version").Scan(&found); err != nil {
			return err
		}
		for i := found; i < len(steps); i++ {
			for _, statement := range strings.Split(d.spell(steps[i]), ";\n") {
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return fmt.Errorf("tables of version %d: %w", i+1, err)
				}
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO bx_version (version) VALUES ($1)", i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// spell puts in what the two databases call differently.
func (d *DB) spell(text string) string {
	if d.pg {
		return strings.NewReplacer("{loose}", "UNLOGGED", "{bytes}", "bytea", "{least}", "least", "{greatest}", "greatest").Replace(text)
	}
	return strings.NewReplacer("{loose} ", "", "{bytes}", "blob", "{least}", "min", "{greatest}", "max").Replace(text)
}

// tries is how often a transaction is begun anew that the database broke off for
// the sake of another.
const tries = 10

// change runs f in a transaction.
func change(ctx context.Context, pool *sql.DB, f func(tx *sql.Tx) error) (err error) {
	for range tries {
		if err = once(ctx, pool, f); !again(err) {
			return err
		}
	}
	return err
}

func once(ctx context.Context, pool *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit there is nothing to roll back
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// again reports a transaction that gave way to another.
func again(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01")
}

// twice reports a name that is taken.
func twice(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505" || err != nil && strings.Contains(err.Error(), "UNIQUE constraint failed")
}

// values are the arguments of a statement.
type values []any

// put adds arguments and gives their places: "($1, $2)".
func (v *values) put(of ...any) string {
	places := make([]string, len(of))
	for i, a := range of {
		*v = append(*v, a)
		places[i] = "$" + strconv.Itoa(len(*v))
	}
	return "(" + strings.Join(places, ", ") + ")"
}

// as adds an argument whose type cannot be told from where it stands.
func (v *values) as(kind string, a any) string {
	*v = append(*v, a)
	return "CAST($" + strconv.Itoa(len(*v)) + " AS " + kind + ")"
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
