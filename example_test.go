package utp_test

import (
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
)

// Events make a reply; runners act on its calls.
func ExampleCollect() {
	call := &utp.Call{ID: "call_1", Name: "list_dir", Args: json.RawMessage(`{"path":"."}`), Source: "text:hermes"}
	reply := utp.Collect([]utp.Event{
		{Kind: utp.TextDelta, Part: 0, Text: "Let me look."},
		{Kind: utp.CallStart, Part: 1, Call: call},
		{Kind: utp.CallDelta, Part: 1, Text: `{"path":"."}`},
		{Kind: utp.CallEnd, Part: 1, Call: call},
		{Kind: utp.Finish, End: &utp.End{Stop: utp.StopTool}},
	})
	fmt.Println(reply.Text())
	for _, c := range reply.Calls() {
		fmt.Println(c.Name, string(c.Args))
	}
	// Output:
	// Let me look.
	// list_dir {"path":"."}
}
