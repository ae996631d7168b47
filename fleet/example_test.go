package fleet_test

import (
	"fmt"
	"time"

	"github.com/unifiedtoolprotocol/utp/fleet"
	"github.com/unifiedtoolprotocol/utp/price"
)

func Example() {
	k := fleet.Key{Name: "ci", Limits: fleet.Limits{Models: []string{"qwen*"}, Budget: fleet.Budget{fleet.Day: {Money: 5 * price.Unit}}}}
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	fmt.Println(k.Allows("qwen3:8b"), k.Allows("gpt-5"), k.Pays(), fleet.Day.End(now))
	w := fleet.Spent{Per: fleet.Day, Limit: k.Budget[fleet.Day], Settled: fleet.Amount{Money: 4.5e9}}
	fmt.Println(w.Left().Money, w.Broken(fleet.Amount{Money: price.Unit}))
	// Output:
	// true false true 2026-11-24 00:00:00 +0000 UTC
	// 0.5 money
}
