package database_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/fleet/database"
	"github.com/unifiedtoolprotocol/utp/price"
)

func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, now := context.Background(), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	l, err := database.Open(ctx, "sqlite:"+filepath.Join(dir, "ledger.db"), func() string { return "act" })
	if err != nil {
		panic(err)
	}
	defer l.Close()
	k := fleet.Key{ID: "k1", Name: "ci", Created: now, Limits: fleet.Limits{Budget: fleet.Budget{fleet.Day: {Money: price.Unit}}}}
	if err := l.CreateKey(ctx, "me", k, sha256.Sum256([]byte("bx-key"))); err != nil {
		panic(err)
	}
	for _, id := range []string{"r1", "r2"} {
		_, err = l.Reserve(ctx, fleet.Reservation{ID: id, Key: &k, Replica: "a", At: now, Most: fleet.Amount{Requests: 1, Money: 6e8}})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// the budget of this key for the day is 1 money: 0 are used, 0.6 reserved, and this request may take 0.6; a lower limit on its reply reduces that
}
