package grammar

var mistral = Grammar{
	Name:    "mistral",
	Aliases: []string{"mistral-json-array", "mistral-name-args", "mistral-tool-calls", "mistral-think", "reasoning:mistral-THINK", "xlam-multi"},
	Models:  []string{"mistral*", "mixtral*", "mathstral*", "devstral*", "magistral*", "ministral*", "*xlam*"},
	Source:  `Mistral tokenizers before v11; vLLM mistral.py`,
	Think:   Fence{"[THINK]", "[/THINK]"},
	Group:   Fence{"[TOOL_CALLS][", "]"},
	Body:    JSON,
	Also: map[string][]string{
		"call.open":  {"[TOOL_CALLS]"},
		"think.open": {"<think>"}, "think.close": {"</think>"},
	},
	Noise:  []string{"[/TOOL_CALLS]"},
	Result: Fence{"[TOOL_RESULTS]", "[/TOOL_RESULTS]"},

	Manifest: "functions",
	List:     Fence{"[AVAILABLE_TOOLS] [", "][/AVAILABLE_TOOLS]"},
}
