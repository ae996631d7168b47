package database_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/database"
	"github.com/unifiedtoolprotocol/utp/internal/replicas"
)

// opener opens one database again and again, as replicas do.
func opener(address string) func(t testing.TB) *database.DB {
	return func(t testing.TB) *database.DB {
		t.Helper()
		d, err := database.Open(t.Context(), address, replicas.ID)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
}

func file(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "ledger.db") }

func TestLedgerInAFile(t *testing.T) {
	open := opener(file(t))
	replicas.Ledger(t, func(t testing.TB) fleet.Ledger { return open(t) })
}

func TestLedgerInPostgreSQL(t *testing.T) {
	open := opener(replicas.Postgres(t).Address)
	replicas.Ledger(t, func(t testing.TB) fleet.Ledger { return open(t) })
}

func TestStateInAFile(t *testing.T) {
	open := opener(file(t))
	replicas.State(t, func(t testing.TB) fleet.State { return open(t) })
}

func TestStateInPostgreSQL(t *testing.T) {
	open := opener(replicas.Postgres(t).Address)
	replicas.State(t, func(t testing.TB) fleet.State { return open(t) })
}

// A replica of a version goes on while a later one has brought the tables up to its
// own.
func TestOldReplicasGoOn(t *testing.T) {
	for name, address := range map[string]string{"a file": file(t), "PostgreSQL": replicas.Postgres(t).Address} {
		t.Run(name, func(t *testing.T) {
			open := opener(address)
			old := open(t)
			k := replicas.Member(t, old, nil, nil)
			later := open(t)
			if err := later.Migrate(t.Context(), "ALTER TABLE bx_entries ADD COLUMN tier text NOT NULL DEFAULT '';\nCREATE TABLE bx_later (id text)"); err != nil {
				t.Fatal(err)
			}
			if n := later.Version(t); n != 2 {
				t.Errorf("version %d", n)
			}
			for i, d := range []*database.DB{old, later, open(t)} { // the third starts behind the migration
				id := replicas.ID()
				if _, err := d.Reserve(t.Context(), fleet.Reservation{ID: id, Key: k, At: time.Now(), Most: fleet.Amount{Requests: 1}}); err != nil {
					t.Errorf("replica %d: %v", i, err)
				}
				if _, err := d.Settle(t.Context(), fleet.Settlement{ID: id, Ending: fleet.Settled, Amount: fleet.Amount{Requests: 1}, At: time.Now()}); err != nil {
					t.Errorf("replica %d: %v", i, err)
				}
			}
			if n := later.Version(t); n != 2 {
				t.Errorf("version %d after an old replica's start", n)
			}
		})
	}
}

// Each question to State is one round trip, and a booking two with one commit.
func TestRoundTripsToPostgreSQL(t *testing.T) {
	via := replicas.Via(t, replicas.Postgres(t).Address)
	d := opener(via.Address)(t)
	replicas.OneTrip(t, via, d)
	replicas.TwoCommits(t, via, d)
}

// Who cannot open a ledger is told what to do, and no password.
func TestLedgersThatDoNotOpen(t *testing.T) {
	text := filepath.Join(t.TempDir(), "l.txt")
	if err := os.WriteFile(text, []byte("no database at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := replicas.Postgres(t).Address
	c, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if _, err := c.Exec(t.Context(), "CREATE ROLE guest LOGIN"); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"sqlite:" + text:                                         text + ": file is not a database",
		"postgres://bx:se%cret@127.0.0.1/bx":                     "%40",
		strings.Replace(server, "bx@", "guest:secret@", 1):       "CREATE DATABASE bx OWNER bx",
		"mysql://bx:secret@127.0.0.1/bx":                         `want "sqlite:PATH"`,
		strings.Replace(server, "bx@", "nobody:secret@", 1):      "nobody",
		server + "?sslmode=verify-full&connect_timeout=1&user=x": "TLS",
	} {
		d, err := database.Open(t.Context(), address, replicas.ID)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
		if d != nil {
			t.Errorf("%s: there is a ledger", address)
		}
	}
}
