package responses_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
)

func Example() {
	x, err := responses.Back{}.Open(&utp.Request{
		Model:    "m",
		Messages: []utp.Message{utp.NewText(utp.RoleUser, "What time is it?")},
		Tools:    []utp.Tool{{Name: "now"}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s %s\n", x.Path, x.Body)
	reply, err := x.Read([]byte(`{"object":"response","status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"now","arguments":"{}"}]}`), func() string { return "call_1" })
	if err != nil {
		panic(err)
	}
	c := reply.Calls()[0]
	fmt.Println(c.ID, c.Name, string(c.Args), reply.Stop)
	// Output:
	// /v1/responses {"model":"m","input":[{"type":"message","role":"user","content":"What time is it?"}],"tools":[{"type":"function","name":"now","parameters":{"type":"object","properties":{}},"strict":false}],"store":false,"include":["reasoning.encrypted_content"]}
	// call_1 now {} tool
}
