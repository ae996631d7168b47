package grammar

var kimiK3 = Grammar{
	Name:    "kimi-k3",
	Aliases: []string{"kimi-k3-xtml", "reasoning:kimi-k3-channel"},
	Models:  []string{"kimi-k3*"},
	Source:  `vLLM kimi_k3_tool_parser.py; Kimi K3 chat template`,
	Think:   Fence{"<|open|>think<|sep|>", "<|close|>think<|sep|>"},
	Group:   Fence{"<|open|>tools<|sep|>", "<|close|>tools<|sep|>"},
	Call:    Fence{"<|open|>call tool=\"{name}\"<|sep|>", "<|close|>call<|sep|>"},
	Arg:     Fence{"<|open|>argument key=\"{key}\" type=\"{type}\"<|sep|>", "<|close|>argument<|sep|>"},
	Body:    Tagged,
	Also: map[string][]string{
		"arg.open":  {"<|open|>json type=\"{type}\"<|sep|>"},
		"arg.close": {"<|close|>json<|sep|>"},
	},
	Noise: []string{"<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"},
}
