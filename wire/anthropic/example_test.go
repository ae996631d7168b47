package anthropic_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
)

func Example() {
	x, err := anthropic.Back{}.Open(&utp.Request{
		Model:    "m",
		Messages: []utp.Message{utp.NewText(utp.RoleUser, "What time is it?")},
		Tools:    []utp.Tool{{Name: "now"}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s %s\n", x.Path, x.Body)
	reply, err := x.Read([]byte(`{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"now","input":{}}],"stop_reason":"tool_use"}`), func() string { return "call_1" })
	if err != nil {
		panic(err)
	}
	c := reply.Calls()[0]
	fmt.Println(c.ID, c.Name, string(c.Args), reply.Stop)
	// Output:
	// /v1/messages {"model":"m","max_tokens":32768,"messages":[{"role":"user","content":"What time is it?"}],"tools":[{"name":"now","input_schema":{"type":"object","properties":{}}}]}
	// toolu_1 now {} tool
}
