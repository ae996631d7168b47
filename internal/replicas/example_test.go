package replicas_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/internal/replicas"
)

func Example() {
	fmt.Println(replicas.ID() != replicas.ID())
	// Output: true
}
