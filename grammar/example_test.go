package grammar_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

func ExampleForModel() {
	for _, g := range grammar.ForModel("qwen2.5-coder:7b") {
		fmt.Println(g.Name, g.Call.Open)
	}
	// Output:
	// hermes <tool_call>
	//
	// tools-tag <tools>
}

func ExampleLoad() {
	g, err := grammar.Load([]byte(`{
		"name": "mine",
		"call": {"open": "<do {name}>", "close": "</do>"},
		"body": "args"
	}`))
	fmt.Println(g.Name, err)
	_, err = grammar.Load([]byte(`{"name": "mine", "body": "args"}`))
	fmt.Println(err)
	// Output:
	// mine <nil>
	// grammar mine: line 1: body args needs {name} in call.open, in a call route or in id
}
