package grammar

var hermes = Grammar{
	Name:    "hermes",
	Aliases: []string{"hermes-json", "tool_call", "think-tags", "reasoning:think-tags", "xlam-multi", "markdown-json-fence"},
	Models:  []string{"*hermes*", "qwen2.5*", "qwq*", "qwen3", "qwen3-[0-9]*", "qwen3-vl*", "qwen3-next*", "granite4*", "granite-4*", "*trinity*", "*xlam*", "rwkv*"},
	Source:  `NousResearch Hermes function calling; Qwen2.5, Qwen3 and Granite 4 chat templates`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<tool_call>\n", "\n</tool_call>"},
	Body:    JSON,
	Also:    map[string][]string{"call.open": {"<tool_call type=\"{type}\">\n"}},
	Result:  Fence{"<tool_response>\n", "\n</tool_response>"},

	Manifest: "functions",
	List:     Fence{"<tools>\n", "\n</tools>"},
}
