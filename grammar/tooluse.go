package grammar

var toolUse = Grammar{
	Name:    "tool-use",
	Aliases: []string{"tool_use", "anthropic_xml"},
	Source:  `JSON in the tag of Anthropic's tool_use blocks, as models write it in text`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<tool_use>\n", "\n</tool_use>"},
	Body:    JSON,
	Also:    map[string][]string{"call.open": {"<tool_use type=\"{type}\">\n"}},
	Result:  Fence{"<tool_result name=\"{name}\">\n", "\n</tool_result>"},
}
