package reading_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
)

func Example() {
	tools, err := reading.ParseTools([]byte(`[{"name": "get_weather", "input_schema": {
		"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text := "Let me look.\n<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Oslo', 'days': '3'}}</tool_call>"
	r, err := reading.Read(reading.Options{Tools: tools}, []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", r.Content)
	for _, c := range r.ToolCalls {
		fmt.Println(c.ID, c.Grammar, c.Name, string(c.Arguments), c.Status)
		fmt.Println(text[c.Offset : c.Offset+c.Length][:12])
	}
	// Output:
	// "Let me look.\n"
	// call_0 hermes get_weather {"city":"Oslo","days":3} repaired
	// <tool_call>{
}

func ExampleLines() {
	in := strings.NewReader(`{"id": "a", "input": "Hello."}` + "\n" + `{"id": "b"}` + "\n")
	tally, err := reading.Lines(context.Background(), in, os.Stdout, reading.Options{})
	fmt.Println(tally.Bad, "of", tally.Lines, err)
	// Output:
	// {"id":"a","content":"Hello.","reasoning":"","tool_calls":[],"problems":[]}
	// {"id":"b","error":"line 2: \"input\" is missing: want a text, a provider's reply, or the list of its calls"}
	// 1 of 2 <nil>
}
