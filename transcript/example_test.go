package transcript_test

import (
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/transcript"
)

// A process that was killed while a tool ran and another waited.
func Example() {
	ran := utp.Call{ID: "1", Name: "write_file", Args: json.RawMessage(`{"path":"a"}`)}
	waits := utp.Call{ID: "2", Name: "write_file", Args: json.RawMessage(`{"path":"b"}`)}
	question := utp.NewText(utp.RoleUser, "Write a and b.")
	reply := utp.Message{Role: utp.RoleAssistant, Parts: []utp.Part{ran, waits}}
	for _, m := range transcript.Messages([]transcript.Entry{
		{Kind: transcript.Question, Message: &question},
		{Kind: transcript.Request},
		{Kind: transcript.Reply, Message: &reply},
		{Kind: transcript.Call, Call: &ran, Decision: transcript.Allowed},
	}) {
		fmt.Printf("%s %q\n", m.Role, m.Text())
		for _, r := range m.Results() {
			fmt.Println("  ", r.CallID, r.Status, r.Text())
		}
	}
	// Output:
	// user "Write a and b."
	// assistant ""
	// tool ""
	//    1 error interrupted; it may have run: look before you repeat it
	//    2 denied not run: the turn was interrupted before it
	// assistant "[no answer: the turn was interrupted]"
}
