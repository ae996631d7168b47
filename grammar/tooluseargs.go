package grammar

var toolUseArgs = Grammar{
	Name:    "tool-use-args",
	Aliases: []string{"anthropic_xml"},
	Source:  `tool_use blocks with <name> and <arguments> children, the arguments as JSON`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<tool_use>\n<name>{name}</name>\n<arguments>", "</arguments>\n</tool_use>"},
	Body:    Args,
	Also: map[string][]string{
		"call.open":  {"<tool_use>\n<name>{name}</name>\n<parameters>", "<tool_use>\n<name>{name}</name>\n<input>"},
		"call.close": {"</parameters>\n</tool_use>", "</input>\n</tool_use>"},
	},
	Result: Fence{"<tool_result name=\"{name}\">\n", "\n</tool_result>"},
}
