package grammar

var harmony = Grammar{
	Name:    "harmony",
	Aliases: []string{"gptoss-harmony", "gpt-oss", "reasoning:harmony-analysis"},
	Models:  []string{"*gpt-oss*"},
	Source:  `openai/harmony: docs/format.md and src/encoding.rs`,
	Prefill: "<|start|>assistant",
	Header:  Fence{"<|start|>assistant", "<|message|>"},
	End:     "<|end|>",
	Routes: []Route{
		{Has: " to=functions.{name}", As: CallRoute, Write: Fence{"<|start|>assistant to=functions.{name}<|channel|>commentary json<|message|>", "<|call|>"}},
		{Has: " to=assistant", As: TextRoute},
		{Has: " to={name}<|channel|>", As: CallRoute},
		{Has: "<|channel|>commentary to={name}", As: CallRoute},
		{Has: "<|channel|>analysis", As: ThinkRoute},
		{As: TextRoute},
	},
	Body:   Args,
	Also:   map[string][]string{"header.open": {"<|channel|>", " to=functions.", "commentary to=functions."}, "end": {"<|call|>", "<|return|>"}},
	Result: Fence{"<|start|>functions.{name} to=assistant<|channel|>commentary<|message|>", "<|end|>"},
}
