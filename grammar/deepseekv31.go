package grammar

var deepseekV31 = Grammar{
	Name:    "deepseek-v3.1",
	Aliases: []string{"deepseek-v31-json"},
	Models:  []string{"deepseek-v3.1*"},
	Source:  `DeepSeek-V3.1 chat template; vLLM deepseekv31_tool_parser.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"},
	Call:    Fence{"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>", "<｜tool▁call▁end｜>"},
	Body:    Args,
	Also:    map[string][]string{"group.open": {"<｜tool_calls_begin｜>", "<｜tool calls begin｜>"}},
	Noise:   []string{"<｜end▁of▁sentence｜>"},
	Result:  Fence{"<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"},
}
