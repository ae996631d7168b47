package keys_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/keys"
	"github.com/unifiedtoolprotocol/utp/fleet"
)

func Example() {
	by, err := keys.Bys("day, model")
	fmt.Println(by, err)
	fmt.Println(keys.Words(fleet.Limits{Parallel: 4, Models: []string{"claude-*"}, Budget: fleet.Budget{fleet.Day: {Money: 5e9}, fleet.Minute: {Requests: 60}}}))
	// Output:
	// [day model] <nil>
	// 60 requests/minute, 5 money/day, 4 at once, claude-*
}
