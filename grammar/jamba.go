package grammar

var jamba = Grammar{
	Name:    "jamba",
	Aliases: []string{"tool-calls-json-array", "jamba-json-array", "apriel-json-array", "reasoning:hunyuan-answer"},
	Models:  []string{"*jamba*", "*apriel*", "*hunyuan-a13b*"},
	Source:  `vLLM jamba_tool_parser.py, hunyuan_a13b_tool_parser.py; Apriel chat template`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<tool_calls>[", "]</tool_calls>"},
	Body:    JSON,
	Noise:   []string{"<answer>", "</answer>", "助手：", "[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"},
	Quiet:   true,
}
