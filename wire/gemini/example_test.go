package gemini_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
)

func Example() {
	x, err := gemini.Back{}.Open(&utp.Request{
		Model:    "m",
		Messages: []utp.Message{utp.NewText(utp.RoleUser, "What time is it?")},
		Tools:    []utp.Tool{{Name: "now"}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s %s\n", x.Path, x.Body)
	reply, err := x.Read([]byte(`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"now","args":{}}}]},"finishReason":"STOP"}]}`), func() string { return "call_1" })
	if err != nil {
		panic(err)
	}
	c := reply.Calls()[0]
	fmt.Println(c.ID, c.Name, string(c.Args), reply.Stop)
	// Output:
	// /v1beta/models/m:generateContent {"contents":[{"role":"user","parts":[{"text":"What time is it?"}]}],"tools":[{"functionDeclarations":[{"name":"now"}]}]}
	// call_1 now {} tool
}
