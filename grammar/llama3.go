package grammar

var llama3 = Grammar{
	Name:    "llama3",
	Aliases: []string{"llama3-json"},
	Models:  []string{"*llama-3*", "*llama3*", "*llama-4*", "*llama4*"},
	Source:  `Meta Llama 3.1 prompt format; vLLM llama_tool_parser.py`,
	Call:    Fence{Open: "<|python_tag|>"},
	Body:    JSON,
	Fields:  Fields{Args: "parameters"},
}
