package grammar

var solarOpen = Grammar{
	Name:   "solar-open",
	Models: []string{"solar-open-100b*", "solar-open:*", "solar-open"},
	Source: `Upstage Solar Open 100B: chat template`,
	Think:  Fence{"<|think|>", "<|end|>"},
	Group:  Fence{Open: "<|tool_calls|>"},
	Call:   Fence{"<|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|>", "<|tool_call:end|>"},
	Body:   Args,
	Noise:  []string{"<|begin|>assistant", "<|content|>"},
}
