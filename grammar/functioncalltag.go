package grammar

var functionCallTag = Grammar{
	Name:    "function-call-tag",
	Aliases: []string{"function_call"},
	Source:  `JSON in <function_call>, closed; fine-tunes and prompts without a template of their own`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<function_call>\n", "\n</function_call>"},
	Body:    JSON,
	Also:    map[string][]string{"call.open": {"<function_call type=\"{type}\">\n", "<functioncall>"}, "call.close": {"</functioncall>"}},
	Result:  Fence{"<tool_response>\n", "\n</tool_response>"},
}
