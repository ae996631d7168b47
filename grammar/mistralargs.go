package grammar

var mistralArgs = Grammar{
	Name:    "mistral-args",
	Aliases: []string{"mistral-name-args", "mistral-json-array", "mistral-tool-calls"},
	Models:  []string{"mistral-small*", "mistral-medium*", "mistral-large*", "devstral*", "magistral*", "ministral*"},
	Source:  `Mistral tokenizers from v11: Small 3.2, Devstral, Magistral, Ministral 3; vLLM mistral.py`,
	Think:   Fence{"[THINK]", "[/THINK]"},
	Call:    Fence{Open: "[TOOL_CALLS]{name}[ARGS]"},
	Body:    Args,
	Also: map[string][]string{
		"call.open":  {"[TOOL_CALLS]{name}[CALL_ID]{id}[ARGS]", "[TOOL_CALLS]{name}", "{name}[TOOL_CALLS]", "{name}[TOOL_CALLS][ARGS]"},
		"think.open": {"<think>"}, "think.close": {"</think>"},
	},
	Noise:  []string{"[/TOOL_CALLS]"},
	Result: Fence{"[TOOL_RESULTS]", "[/TOOL_RESULTS]"},

	Manifest: "functions",
	List:     Fence{"[AVAILABLE_TOOLS] [", "][/AVAILABLE_TOOLS]"},
}
