package grammar

var deepseekV4 = Grammar{
	Name:    "deepseek-v4",
	Aliases: []string{"deepseek-v4-dsml", "deepseek-dsml-v4"},
	Models:  []string{"deepseek-v4", "deepseek-v4-*", "deepseek-v4:*"},
	Source:  `vLLM deepseek_v4.py; SGLang deepseekv4_detector.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<｜DSML｜tool_calls>\n", "</｜DSML｜tool_calls>"},
	Call:    Fence{"<｜DSML｜invoke name=\"{name}\">\n", "</｜DSML｜invoke>\n"},
	Arg:     Fence{"<｜DSML｜parameter name=\"{key}\" string=\"{type}\">", "</｜DSML｜parameter>\n"},
	Body:    Tagged,
	Noise:   []string{"<｜end▁of▁sentence｜>"},
}
