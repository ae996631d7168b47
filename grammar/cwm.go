package grammar

var cwm = Grammar{
	Name:    "cwm",
	Aliases: []string{"cwm-tool-block"},
	Models:  []string{"cwm*"},
	Source:  `Meta CWM chat template; vLLM cwm_tool_parser.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<tool: function>\n{name} ", "\n</tool>"},
	Body:    Args,
	Text:    "command",
}
