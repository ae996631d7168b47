package grammar

var olmo3 = Grammar{
	Name:    "olmo3",
	Aliases: []string{"olmo3-pythonic"},
	Models:  []string{"olmo-3*", "olmo3*"},
	Source:  `OLMo 3 chat template; vLLM olmo3_tool_parser.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<function_calls>", "</function_calls>"},
	Body:    Python,
}
