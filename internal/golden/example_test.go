package golden_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

func ExampleRead() {
	c, err := golden.Read("testdata/upper/crlf.txtar")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %q %v\n", c.Name, c.Get("in"), c.Contract())
	// Output: upper/crlf "one\r\ntwo\n" [Q-03 Q-04]
}
