package grammar

var pythonic = Grammar{
	Name:    "pythonic",
	Aliases: []string{"pythonic-list", "llama4-pythonic"},
	Models:  []string{"*toolace*", "*ultravox*", "*llama-3.2*", "*llama3.2*", "*llama-4*", "*llama4*", "lfm2*"},
	Source:  `Llama 3.2 and ToolACE: a list of calls; vLLM pythonic_tool_parser.py`,
	Group:   Fence{"[", "]"},
	Body:    Python,
}
