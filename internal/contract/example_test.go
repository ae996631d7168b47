package contract_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/internal/contract"
)

func Example() {
	rows, err := contract.Rows("## Calls\n| P-01 | Native calls are found. |\n")
	fmt.Println(rows[0].ID, rows[0].Group, err)
	fmt.Println(contract.Tags("// contract: P-01 4.2"))
	// Output:
	// P-01 Calls <nil>
	// [P-01 UAT-4.2]
}
