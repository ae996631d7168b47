package grammar

var minimaxM3 = Grammar{
	Name:    "minimax-m3",
	Aliases: []string{"minimax-m3-nsxml", "minimax-m3-xml", "reasoning:mm-think"},
	Models:  []string{"minimax-m3*"},
	Source:  `vLLM minimax_m3_tool_parser.py; SGLang minimax_m3.py: the tag is the key, values nest`,
	Think:   Fence{"<mm:think>", "</mm:think>"},
	Group:   Fence{"]<]minimax[>[<tool_call>\n", "]<]minimax[>[</tool_call>"},
	Call:    Fence{"]<]minimax[>[<invoke name=\"{name}\">", "]<]minimax[>[</invoke>\n"},
	Arg:     Fence{"]<]minimax[>[<{key}>", "]<]minimax[>[</{key}>"},
	Item:    Fence{"]<]minimax[>[<item>", "]<]minimax[>[</item>"},
	Body:    Tagged,
}
