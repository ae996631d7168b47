package parse_test

import (
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

var weather = []utp.Tool{{
	Name:   "get_weather",
	Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`),
}}

// A whole reply, in a dialect that nobody named.
func ExampleText() {
	reply := parse.Text(parse.Config{Tools: schema.Compile(weather)}, `I'll look.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Oslo", "days": "3",}}
</tool_call>`)
	fmt.Printf("%q\n", reply.Text())
	for _, c := range reply.Calls() {
		fmt.Println(c.Source, c.Name, string(c.Args))
		for _, f := range c.Fixes {
			fmt.Println("mended:", f.Why)
		}
	}
	// Output:
	// "I'll look.\n"
	// text:hermes get_weather {"city":"Oslo","days":3}
	// mended: a number is wanted
	// mended: trailing comma
}

// A stream: text goes on at once, a call as it is written.
func ExampleParser_Feed() {
	p := parse.New(parse.Config{Tools: schema.Compile(weather)})
	show := func(evs []utp.Event) {
		for _, e := range evs {
			switch e.Kind {
			case utp.EventText:
				fmt.Printf("text %q\n", e.Text)
			case utp.EventCallStart:
				fmt.Println("call of", e.Call.Name)
			case utp.EventCallDelta:
				fmt.Println("arguments", e.Text)
			case utp.EventCallEnd:
				fmt.Println("run", e.Call.Name, string(e.Call.Args))
			}
		}
	}
	for _, chunk := range []string{"Sure. <func", "tion=get_weather>\n<parameter=city>\nOs", "lo\n</parameter>\n</function>"} {
		show(p.Feed(chunk))
	}
	show(p.Close(false))
	// Output:
	// text "Sure. "
	// call of get_weather
	// arguments {"city":"Os
	// arguments lo
	// arguments "}
	// run get_weather {"city":"Oslo"}
}

// A provider's stream may hold calls in its own field and others in its text.
func ExampleParser_Through() {
	p := parse.New(parse.Config{Tools: schema.Compile(weather)})
	native := []utp.Event{
		{Kind: utp.EventText, Part: 0, Text: `<tools>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tools>`},
		{Kind: utp.EventWhole, Part: 1, Value: utp.Call{ID: "call_1", Name: "get_weather", Args: json.RawMessage(`{"city":"Rome"}`)}},
		{Kind: utp.EventFinish, End: &utp.End{Stop: utp.StopEnd}},
	}
	var all []utp.Event
	for _, e := range native {
		all = append(all, p.Through(e)...)
	}
	reply := utp.Collect(all)
	for _, c := range reply.Calls() {
		fmt.Println(c.Source, string(c.Args))
	}
	fmt.Println(reply.Stop)
	// Output:
	// native {"city":"Rome"}
	// text:tools-tag {"city":"Oslo"}
	// tool
}
