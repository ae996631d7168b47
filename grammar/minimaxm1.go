package grammar

var minimaxM1 = Grammar{
	Name:    "minimax-m1",
	Aliases: []string{"minimax-m1-jsonl"},
	Models:  []string{"minimax-m1*"},
	Source:  `vLLM minimax_tool_parser.py; MiniMax-M1 chat template: one object a line`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<tool_calls>\n", "\n</tool_calls>"},
	Body:    JSON,
	Quiet:   true,
}
