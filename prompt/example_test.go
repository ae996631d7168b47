package prompt_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

func ExampleCall() {
	call := utp.Call{Name: "read_file", Args: json.RawMessage(`{"path":"a.go","limit":5}`)}
	for _, name := range []string{"hermes", "qwen3-coder"} {
		g, _ := grammar.ByName(name)
		text, err := prompt.Call(g, call)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(text)
	}
	// Output:
	// <tool_call>
	// {"name": "read_file", "arguments": {"path": "a.go", "limit": 5}}
	// </tool_call>
	// <tool_call>
	// <function=read_file>
	// <parameter=path>
	// a.go
	// </parameter>
	// <parameter=limit>
	// 5
	// </parameter>
	// </function>
	// </tool_call>
}

func ExampleRender() {
	g, _ := grammar.ByName("react")
	r := utp.Request{
		Model:    "any",
		Messages: []utp.Message{utp.NewText(utp.RoleUser, "What is in a.go?")},
		Tools: []utp.Tool{{Name: "read_file", Description: "Reads a file.",
			Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}},
	}
	out, err := prompt.Render(g, &r)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(out.Tools), out.Messages[0].Role, out.Messages[1].Text())
	// Output: 0 system What is in a.go?
}

func ExampleWriter_Tools() {
	g, _ := grammar.ByName("hermes")
	w := prompt.Writer{Grammar: g, Custom: map[string]string{"read_file": "read_file takes a path, so: {{.Basic}}"}}
	text, err := w.Tools([]utp.Tool{{Name: "read_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text[strings.Index(text, "<tools>"):])
	// Output:
	// <tools>
	// read_file takes a path, so: <tool_call>
	// {"name": "read_file", "arguments": {"path": "example_path"}}
	// </tool_call>
	// </tools>
}
