package grammar

var longcat = Grammar{
	Name:    "longcat",
	Aliases: []string{"longcat-json"},
	Models:  []string{"longcat*"},
	Source:  `vLLM longcat_tool_parser.py; LongCat-Flash chat template`,
	Think:   Fence{"<longcat_think>\n", "\n</longcat_think>\n"},
	Call:    Fence{"<longcat_tool_call>\n", "\n</longcat_tool_call>"},
	Body:    JSON,
}
