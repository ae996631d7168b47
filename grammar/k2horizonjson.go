package grammar

var k2HorizonJSON = Grammar{
	Name:    "k2-horizon-json",
	Aliases: []string{"k2horizon-ifm"},
	Models:  []string{"k2-horizon*", "k2-v3*"},
	Source:  `vLLM k2_horizon_tool_parser.py: the JSON form, chosen by the request`,
	Call:    Fence{"<ifm|tool_calls><ifm|tool_call>", "</ifm|tool_call></ifm|tool_calls>"},
	Body:    JSON,
	Also:    map[string][]string{"call.open": {"<ifm|tool_call>"}, "call.close": {"</ifm|tool_call>"}},
	Noise:   []string{"</ifm|tool_calls>"},
}
