package grammar

var step3 = Grammar{
	Name:    "step3",
	Aliases: []string{"step3-steptml"},
	Models:  []string{"step3", "step-3", "step3-*", "step3:*", "step-3-*"},
	Source:  `Step-3 chat template; vLLM step3_tool_parser.py, SGLang step3_detector.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"},
	Call:    Fence{"<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"{name}\">", "</steptml:invoke><｜tool_call_end｜>"},
	Arg:     Fence{"<steptml:parameter name=\"{key}\">", "</steptml:parameter>"},
	Body:    Tagged,
	Also: map[string][]string{
		"call.open":  {"<｜tool_call_begin｜><steptml:invoke name=\"{name}\">", "<steptml:invoke name=\"{name}\">"},
		"call.close": {"</steptml:invoke>", "<｜tool_call_end｜>"},
	},
}
