package store_test

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite"
)

// exec changes a database behind the package's back.
func exec(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}
