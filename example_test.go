package utp_test

import (
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

// completion stands for the typed value that an SDK returns.
type completion struct {
	Choices []choice `json:"choices"`
}

type choice struct {
	Message message `json:"message"`
	Finish  string  `json:"finish_reason"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// A reply that an SDK has decoded is taken through its JSON; calls that the model
// wrote as text come out beside the native ones.
func Example_sdk() {
	fromSDK := completion{[]choice{{message{"assistant", "Let me see.\n<tool_call>{\"name\": \"now\"}</tool_call>"}, "stop"}}}
	body, err := json.Marshal(fromSDK)
	if err != nil {
		panic(err)
	}
	tools := []utp.Tool{{Name: "now"}}
	exchange, err := openai.Back{}.Open(&utp.Request{Tools: tools})
	if err != nil {
		panic(err)
	}
	native, err := exchange.Read(body, nil)
	if err != nil {
		panic(err)
	}
	p := parse.New(parse.Config{Tools: schema.Compile(tools)})
	var all []utp.Event
	for _, e := range utp.Replay(native) {
		all = append(all, p.Through(e)...)
	}
	reply := utp.Collect(all)
	fmt.Printf("%q\n", reply.Text())
	for _, c := range reply.Calls() {
		fmt.Println(c.Name, string(c.Args), c.Dialect())
	}
	// Output:
	// "Let me see.\n"
	// now {} hermes
}

// Events make a reply; runners act on its calls.
func ExampleCollect() {
	call := &utp.Call{ID: "call_1", Name: "list_dir", Args: json.RawMessage(`{"path":"."}`), Source: "text:hermes"}
	reply := utp.Collect([]utp.Event{
		{Kind: utp.EventText, Part: 0, Text: "Let me look."},
		{Kind: utp.EventCallStart, Part: 1, Call: call},
		{Kind: utp.EventCallDelta, Part: 1, Text: `{"path":"."}`},
		{Kind: utp.EventCallEnd, Part: 1, Call: call},
		{Kind: utp.EventFinish, End: &utp.End{Stop: utp.StopTool}},
	})
	fmt.Println(reply.Text())
	for _, c := range reply.Calls() {
		fmt.Println(c.Name, string(c.Args))
	}
	// Output:
	// Let me look.
	// list_dir {"path":"."}
}
