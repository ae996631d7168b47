package ollama_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

func Example() {
	x, err := ollama.Back{}.Open(&utp.Request{Model: "qwen3", Messages: []utp.Message{utp.NewText(utp.RoleUser, "What time is it?")}})
	if err != nil {
		panic(err)
	}
	reply, err := x.Read([]byte(`{"message":{"content":"","tool_calls":[{"function":{"name":"now","arguments":{}}}]},"done":true}`),
		func() string { return "call_1" })
	if err != nil {
		panic(err)
	}
	c := reply.Calls()[0]
	fmt.Println(c.ID, c.Name, string(c.Args), reply.Stop)
	// Output: call_1 now {} tool
}

func ExampleShow() {
	d, err := ollama.Show("qwen3", []byte(`{"capabilities":["completion","tools"],
		"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960},"parameters":"stop \"x\"\nnum_ctx 8192\n"}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(*d.Tools, d.Context, d.NumCtx)
	// Output: true 40960 8192
}
