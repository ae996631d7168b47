package grammar

var granite = Grammar{
	Name:    "granite",
	Aliases: []string{"granite-json-array", "granite-thoughts", "reasoning:granite-prose"},
	Models:  []string{"granite-3*", "granite3*"},
	Source:  `vLLM granite_tool_parser.py; Granite 3 chat templates, 3.1 with a plain <tool_call>`,
	Think:   Fence{"Here is my thought process:", "Here is my response:"},
	Group:   Fence{"<|tool_call|>[", "]"},
	Body:    JSON,
	Also: map[string][]string{
		"group.open":  {"<tool_call>["},
		"think.open":  {"Here's my thought process:"},
		"think.close": {"Here's my response:"},
	},
	Noise: []string{"<response>", "</response>"},
}
