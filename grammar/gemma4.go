package grammar

var gemma4 = Grammar{
	Name:    "gemma4",
	Aliases: []string{"gemma4-call", "gemma4-thought-channel", "reasoning:gemma4-channel"},
	Models:  []string{"gemma-4*", "gemma4*"},
	Source:  `Gemma 4 chat template; vLLM gemma4.py`,
	Think:   Fence{"<|channel>thought\n", "<channel|>"},
	Call:    Fence{"<|tool_call>call:{name}", "<tool_call|>"},
	Body:    Args,
	Quote:   `<|"|>`,
	Also: map[string][]string{
		"call.open":  {"<|tool_call>:call:{name}", "<|tool_call>{name}", "<call>{name}"},
		"call.close": {"<turn|>"},
	},
	Noise:  []string{"<turn|>"},
	Result: Fence{"<|tool_response>", "<tool_response|>"},
}
