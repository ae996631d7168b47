package grammar

var cohere = Grammar{
	Name:    "cohere",
	Aliases: []string{"cohere-action-json", "cohere-action"},
	Models:  []string{"command-r7b*", "command-a*", "c4ai-command*", "command-r*"},
	Source:  `Cohere Command R7B and Command A chat templates; cohere_melody`,
	Think:   Fence{"<|START_THINKING|>", "<|END_THINKING|>"},
	Group:   Fence{"<|START_ACTION|>[", "\n]<|END_ACTION|>"},
	Body:    JSON,
	Fields:  Fields{ID: "tool_call_id", Name: "tool_name", Args: "parameters"},
	Noise:   []string{"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>", "<co>", "</co: {any}>"},
	Result:  Fence{"<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"},
}
