package grammar

var internlm = Grammar{
	Name:    "internlm",
	Aliases: []string{"internlm-plugin-json"},
	Models:  []string{"internlm*", "intern-s1*"},
	Source:  `vLLM internlm2_tool_parser.py, SGLang internlm_detector.py; InternLM2.5 chat format`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<|action_start|> <|plugin|>\n", "<|action_end|>"},
	Body:    JSON,
	Fields:  Fields{Args: "parameters"},
}
