package database

import (
	"context"
	"slices"
	"testing"
)

// Migrate runs a step behind all that there are.
func (d *DB) Migrate(ctx context.Context, step string) error {
	return d.migrate(ctx, append(slices.Clone(migrations), step))
}

// Version is that of the tables.
func (d *DB) Version(t testing.TB) (n int) {
	t.Helper()
	if err := d.safe.QueryRowContext(t.Context(), "SELECT max(version) FROM bx_version").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
