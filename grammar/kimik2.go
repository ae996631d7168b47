package grammar

var kimiK2 = Grammar{
	Name:    "kimi-k2",
	Aliases: []string{"kimi-k2-section", "kimi-think", "reasoning:kimi-unicode"},
	Models:  []string{"kimi-k2*", "kimi-vl*", "kimi-dev*"},
	Source:  `Kimi-K2 chat template, ids functions.NAME:IDX; vLLM kimi_k2.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"},
	Call:    Fence{"<|tool_call_begin|>{id}<|tool_call_argument_begin|>", "<|tool_call_end|>"},
	Body:    Args,
	ID:      "functions.{name}:{n}",
	Also: map[string][]string{
		"group.open": {"<|tool_call_section_begin|>"}, "group.close": {"<|tool_call_section_end|>"},
		"think.open": {"◁think▷"}, "think.close": {"◁/think▷"},
	},
	Noise:  []string{"<|tool_call_argument_begin|>"},
	Result: Fence{"## Return of {id}\n", "\n"},
}
