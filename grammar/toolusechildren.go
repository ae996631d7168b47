package grammar

var toolUseChildren = Grammar{
	Name:    "tool-use-children",
	Aliases: []string{"anthropic_xml"},
	Source:  `tool_use blocks with <name> and one child element for each argument`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<tool_use>\n<name>{name}</name>\n", "</tool_use>"},
	Arg:     Fence{"<{key}>", "</{key}>\n"},
	Body:    Tagged,
	Result:  Fence{"<tool_result name=\"{name}\">\n", "\n</tool_result>"},
}
