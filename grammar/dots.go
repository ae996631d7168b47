package grammar

var dots = Grammar{
	Name:    "dots",
	Aliases: []string{"dots-invoke"},
	Models:  []string{"dots*"},
	Source:  `vLLM dots_tool_parser.py`,
	Group:   Fence{"<dots_function_call>\n", "</dots_function_call>"},
	Call:    Fence{"<invoke name=\"{name}\">", "</invoke>"},
	Arg:     Fence{"<parameter name=\"{key}\">", "</parameter>"},
	Body:    Tagged,
}
