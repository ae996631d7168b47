package toolenvelope_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/cmd/internal/toolenvelope"
)

func ExampleTable_Budget() {
	t := toolenvelope.Default()
	fmt.Println(t.Budget("qwen-local"), t.Budget("an agent without a line"))
	// Output: 28000 16000
}
