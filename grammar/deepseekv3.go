package grammar

var deepseekV3 = Grammar{
	Name:    "deepseek-v3",
	Aliases: []string{"deepseek-v3-fenced-json"},
	Models:  []string{"deepseek-v3", "deepseek-v3-*", "deepseek-v3:*", "deepseek-r1*", "*cogito*"},
	Source:  `DeepSeek-V3-0324 and R1-0528 chat templates; vLLM deepseekv3_tool_parser.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"},
	Call:    Fence{"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n", "\n```<｜tool▁call▁end｜>"},
	Body:    Args,
	Also: map[string][]string{
		"group.open": {"<｜tool▁calls｜>", "<｜tool_calls_begin｜>", "<｜tool calls begin｜>"}, "call.open": {"function<｜tool▁sep｜>{name}\n```json\n"}, "call.close": {"<｜tool▁call▁end｜>"},
	},
	Noise:  []string{"<｜end▁of▁sentence｜>"},
	Result: Fence{"<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"},
}
