package grammar

var k2Horizon = Grammar{
	Name:    "k2-horizon",
	Aliases: []string{"k2horizon-ifm"},
	Models:  []string{"k2-horizon*", "k2-v3*"},
	Source:  `vLLM k2_horizon_tool_parser.py; SGLang k2_v3_detector.py`,
	Group:   Fence{"<ifm|tool_calls>", "</ifm|tool_calls>"},
	Call:    Fence{"<ifm|tool_call>{name}", "</ifm|tool_call>\n"},
	Arg:     Fence{"<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_type>{type}</ifm|arg_type><ifm|arg_value>", "</ifm|arg_value>"},
	Body:    Tagged,
	Also:    map[string][]string{"arg.open": {"<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_value>"}},
}
