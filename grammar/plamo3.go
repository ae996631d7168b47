package grammar

var plamo3 = Grammar{
	Name:    "plamo3",
	Aliases: []string{"plamo3-tool-requests"},
	Models:  []string{"plamo-3*", "plamo3*"},
	Source:  `vLLM plamo3_tool_parser.py: all markers are plain text`,
	Group:   Fence{"<|plamo:begin_tool_requests:plamo|>", "<|plamo:end_tool_requests:plamo|>"},
	Call: Fence{
		"<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{name}<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>",
		"<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
	},
	Body:  Args,
	Noise: []string{"<|plamo:tag|>"},
}
