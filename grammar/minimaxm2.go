package grammar

var minimaxM2 = Grammar{
	Name:    "minimax-m2",
	Aliases: []string{"minimax-m2-invoke", "minimax-m2-xml", "minimax-append-think"},
	Models:  []string{"minimax-m2*"},
	Source:  `MiniMax-M2 chat template; vLLM minimax_m2.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<minimax:tool_call>\n", "</minimax:tool_call>"},
	Call:    Fence{"<invoke name=\"{name}\">\n", "</invoke>\n"},
	Arg:     Fence{"<parameter name=\"{key}\">", "</parameter>\n"},
	Body:    Tagged,
	Result:  Fence{"<response>", "</response>"},

	List: Fence{"<tools>\n", "\n</tools>"},
}
