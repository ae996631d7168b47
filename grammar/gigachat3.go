package grammar

var gigachat3 = Grammar{
	Name:    "gigachat3",
	Aliases: []string{"gigachat3-function-call", "gigachat3.1"},
	Models:  []string{"*gigachat3*", "*gigachat-3*"},
	Source:  `vLLM gigachat3_tool_parser.py; GigaChat 3 and 3.1 chat templates`,
	Call:    Fence{Open: "<|message_sep|>\n\nfunction call<|role_sep|>\n"},
	Body:    JSON,
	Also:    map[string][]string{"call.open": {"function call<|role_sep|>\n", "<|function_call|>"}},
	Noise:   []string{"</s>", "<|message_sep|>"},
}
