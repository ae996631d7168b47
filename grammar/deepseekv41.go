package grammar

var deepseekV41 = Grammar{
	Name:    "deepseek-v4.1",
	Aliases: []string{"deepseek-v41-dsml"},
	Models:  []string{"deepseek-v4.1*"},
	Source:  `SGLang deepseekv41_detector.py: a blank follows the token`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<｜DSML｜ calls>\n", "</｜DSML｜ calls>"},
	Call:    Fence{"<｜DSML｜ invoke name=\"{name}\">\n", "</｜DSML｜ invoke>\n"},
	Arg:     Fence{"<｜DSML｜ parameter name=\"{key}\" string=\"{type}\">", "</｜DSML｜ parameter>\n"},
	Body:    Tagged,
	Noise:   []string{"<｜end▁of▁sentence｜>"},
}
