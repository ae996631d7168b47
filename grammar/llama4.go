package grammar

var llama4 = Grammar{
	Name:    "llama4",
	Aliases: []string{"llama4-pythonic"},
	Models:  []string{"*llama-4*", "*llama4*"},
	Source:  `Meta Llama 4 prompt format; vLLM llama4_pythonic_tool_parser.py`,
	Group:   Fence{"<|python_start|>[", "]<|python_end|>"},
	Body:    Python,
}
