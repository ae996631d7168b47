package grammar

var lfm2 = Grammar{
	Name:    "lfm2",
	Aliases: []string{"lfm2-bracket", "lfm2-pythonic", "lfm2-json"},
	Models:  []string{"lfm2*"},
	Source:  `LFM2 chat template; vLLM lfm2_tool_parser.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<|tool_call_start|>[", "]<|tool_call_end|>"},
	Body:    Python,
	Also:    map[string][]string{"group.open": {"<|tool_call_start|>"}, "group.close": {"<|tool_call_end|>"}},
	Result:  Fence{"<|tool_response_start|>", "<|tool_response_end|>"},

	Manifest: "functions",
	List:     Fence{"<|tool_list_start|>[", "]<|tool_list_end|>"},
}
