package sandbox_test

import (
	"fmt"
	"os"

	"github.com/unifiedtoolprotocol/utp/sandbox"
)

func Example() {
	handled, _, _ := sandbox.Helper(os.Args, os.Stdout, os.Stderr) // first thing in main
	fmt.Println(handled)
	// Output: false
}
