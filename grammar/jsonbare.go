package grammar

var jsonBare = Grammar{
	Name:    "json-bare",
	Aliases: []string{"json-array-required", "generic-json", "xlam-multi", "none", "llama3-json", "granite-json-array", "hyperclovax14b-header-json"},
	Models:  []string{"*llama-3*", "*llama3*", "*llama-4*", "*llama4*", "granite-3*", "granite3*", "*xlam*", "*hyperclova*14b*"},
	Source:  `JSON in plain content: tool_choice required in vLLM and SGLang, generic JSON of llama.cpp, untrained models`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Body:    JSON,
	Line:    true,
}
