package grammar

var minicpm5 = Grammar{
	Name:    "minicpm5",
	Aliases: []string{"minicpm5-xml"},
	Models:  []string{"minicpm5*", "minicpm-5*"},
	Source:  `MiniCPM5 chat template; vLLM minicpm5xml_tool_parser.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<function name=\"{name}\">", "</function>\n"},
	Arg:     Fence{"<param name=\"{key}\">", "</param>\n"},
	Body:    Tagged,
	XML:     true,
}
