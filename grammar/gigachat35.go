package grammar

var gigachat35 = Grammar{
	Name:    "gigachat-3.5",
	Aliases: []string{"gigachat35-gcml"},
	Models:  []string{"*gigachat3.5*", "*gigachat-3.5*"},
	Source:  `vLLM gigachat35_tool_parser.py: DSML under another name`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<｜GCML｜tool_calls>\n", "</｜GCML｜tool_calls>"},
	Call:    Fence{"<｜GCML｜invoke name=\"{name}\">\n", "</｜GCML｜invoke>\n"},
	Arg:     Fence{"<｜GCML｜parameter name=\"{key}\" string=\"{type}\">", "</｜GCML｜parameter>\n"},
	Body:    Tagged,
	Noise:   []string{"<｜end▁of▁sentence｜>"},
}
