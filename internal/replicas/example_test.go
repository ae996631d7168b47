package replicas_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/internal/replicas"
)

func Example() {
	one, other := replicas.ID(), replicas.ID()
	fmt.Println(one != other)
	// Output: true
}
