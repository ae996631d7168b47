package grammar

var ernie45 = Grammar{
	Name:    "ernie45",
	Aliases: []string{"ernie45-json"},
	Models:  []string{"ernie-4.5*", "ernie4.5*"},
	Source:  `vLLM ernie45_tool_parser.py; ERNIE 4.5 thinking chat template`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<tool_call>\n", "\n</tool_call>"},
	Body:    JSON,
	Noise:   []string{"<response>", "</response>", "<0x0A>"},
	Result:  Fence{"<tool_output>\n", "\n</tool_output>"},
}
