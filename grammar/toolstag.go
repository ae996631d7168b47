package grammar

var toolsTag = Grammar{
	Name:    "tools-tag",
	Aliases: []string{"qwen25coder-tools-tag", "qwen-tools", "qwen_xml", "qwen"},
	Models:  []string{"qwen2.5-coder*", "qwen2-coder*"},
	Source:  `Qwen2.5-Coder, as it writes calls in the wild: the tag of its tool list`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<tools>\n", "\n</tools>"},
	Body:    JSON,
	Also:    map[string][]string{"call.open": {"<tools type=\"{type}\">\n"}},
	Result:  Fence{"<tool_response>\n", "\n</tool_response>"},
}
