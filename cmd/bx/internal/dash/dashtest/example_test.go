package dashtest_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/dash/dashtest"
)

func ExampleFailures() {
	for _, line := range dashtest.Failures("chromium 156.0\nFAIL keyboard: no focus\nkeyboard: 1.2 s\n") {
		fmt.Println(line)
	}
	// Output: FAIL keyboard: no focus
}
