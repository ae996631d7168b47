package keys_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/keys"
	"github.com/unifiedtoolprotocol/utp/fleet"
)

func Example() {
	b := fleet.Budget{}
	fmt.Println(keys.Set(b, "money", "day=5,month=50.5"), keys.Set(b, "requests", "minute=60"), keys.Set(b, "tokens", "year=1"))
	fmt.Println(keys.Words(fleet.Limits{Budget: b, Models: []string{"qwen*"}}))
	// Output:
	// <nil> <nil> "year=1": want minute=N, day=N or month=N
	// 60 requests/minute, 5 money/day, 50.5 money/month, qwen*
}
