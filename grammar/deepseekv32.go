package grammar

var deepseekV32 = Grammar{
	Name:    "deepseek-v3.2",
	Aliases: []string{"deepseek-v32-dsml", "deepseek-dsml-v3.2"},
	Models:  []string{"deepseek-v3.2*"},
	Source:  `DeepSeek-V3.2 encoding (DSML); vLLM deepseek_v32.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<｜DSML｜function_calls>\n", "</｜DSML｜function_calls>"},
	Call:    Fence{"<｜DSML｜invoke name=\"{name}\">\n", "</｜DSML｜invoke>\n"},
	Arg:     Fence{"<｜DSML｜parameter name=\"{key}\" string=\"{type}\">", "</｜DSML｜parameter>\n"},
	Body:    Tagged,
	Noise:   []string{"<｜end▁of▁sentence｜>"},
	Result:  Fence{"<function_results>\n<result>", "</result>\n</function_results>"},
}
