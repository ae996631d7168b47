package openai_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

func Example() {
	x, err := openai.Back{}.Open(&utp.Request{
		Model:    "qwen3",
		Messages: []utp.Message{utp.NewText(utp.RoleUser, "What time is it?")},
		Tools:    []utp.Tool{{Name: "now"}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", x.Body)
	reply, err := x.Read([]byte(`{"choices":[{"message":{"content":null,"tool_calls":[
		{"id":"call_1","type":"function","function":{"name":"now","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`), nil)
	if err != nil {
		panic(err)
	}
	c := reply.Calls()[0]
	fmt.Println(c.ID, c.Name, string(c.Args), reply.Stop)
	// Output:
	// {"model":"qwen3","messages":[{"role":"user","content":"What time is it?"}],"tools":[{"type":"function","function":{"name":"now","parameters":{"type":"object","properties":{}}}}]}
	// call_1 now {} tool
}
