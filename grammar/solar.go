package grammar

var solar = Grammar{
	Name:    "solar",
	Aliases: []string{"solar-toolarg"},
	Models:  []string{"solar-open-2*", "solar-open2*"},
	Source:  `vLLM solar_open2_tool_parser.py`,
	Think:   Fence{"<|think:start|>", "<|think:end|>"},
	Call:    Fence{"<|tool_call:start|>{name}\n", "<|tool_call:end|>\n"},
	Arg:     Fence{"<|tool_arg:start|>{key}<|tool_arg:value|>", "<|tool_arg:end|>\n"},
	Body:    Tagged,
}
