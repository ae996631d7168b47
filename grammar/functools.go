package grammar

var functools = Grammar{
	Name:    "functools",
	Aliases: []string{"functools-json", "phi4-functools"},
	Models:  []string{"phi-4-mini*", "phi4-mini*", "*firefunction*"},
	Source:  `vLLM phi4mini_tool_parser.py; Phi-4-mini and FireFunction v2 chat templates`,
	Group:   Fence{"functools[", "]"},
	Body:    JSON,
}
