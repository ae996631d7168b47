package envelope_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/envelope"
)

func Example() {
	r := envelope.New(nil)
	for _, in := range []string{
		`{"model":"m","message":{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}}]},"done":true}`,
		`{"x": 1}`,
	} {
		evs, found, err := r.Read([]byte(in), false)
		fmt.Println(found, err)
		for _, c := range utp.Collect(evs).Calls() {
			fmt.Println(c.Name, string(c.Args))
		}
	}
	// Output:
	// true <nil>
	// f {"x":1}
	// false <nil>
}
