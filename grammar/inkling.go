package grammar

var inkling = Grammar{
	Name:    "inkling",
	Aliases: []string{"inkling-blocks", "reasoning:inkling-block"},
	Models:  []string{"*inkling*"},
	Source:  `vLLM inkling.py; SGLang inkling_detector.py`,
	Prefill: "<|message_model|>",
	Header:  Fence{"<|message_model|>", "<|content_text|>"},
	End:     "<|end_message|>",
	Routes: []Route{
		{Has: "<|content_invoke_tool_json|>", As: CallRoute, Write: Fence{"<|message_model|><|content_invoke_tool_json|>", "<|end_message|>"}},
		{Has: "{name}<|content_invoke_tool_text|>", As: CallRoute},
		{Has: "<|content_thinking|>", As: ThinkRoute},
		{Has: "<|content_text|>", As: TextRoute},
		{As: TextRoute},
	},
	Body:   JSON,
	Fields: Fields{Args: "args"},
	Text:   "text",
	Also: map[string][]string{
		"header.close": {"<|content_thinking|>", "<|content_invoke_tool_json|>", "<|content_invoke_tool_text|>", "<|content_tool_error|>"},
		"end":          {"<|content_model_end_sampling|>"},
	},
}
