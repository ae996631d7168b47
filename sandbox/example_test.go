package sandbox_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/sandbox"
)

func Example() {
	handled, _, _ := sandbox.Helper() // first thing in main
	fmt.Println(handled)
	// Output: false
}
