package grammar

var muse = Grammar{
	Name:    "muse",
	Aliases: []string{"muse-atem", "glimmer-atem", "reasoning:muse-self-channel"},
	Models:  []string{"*muse*", "*glimmer*"},
	Source:  `vLLM muse_glimmer_tool_parser.py; SGLang muse_glimmer_detector.py`,
	Prefill: "<|start|>assistant",
	Header:  Fence{" to=", "<|message|>"},
	End:     "<|eom|>",
	Routes: []Route{
		{Has: "to=self", As: ThinkRoute},
		{Has: "to=user", As: TextRoute},
		{Has: "to={name}", As: CallRoute, Write: Fence{"<|start|>assistant to={name}<|message|>", "<|eom|>"}},
	},
	Group: Fence{"<atem:function_calls>\n", "</atem:function_calls>"},
	Call:  Fence{"<atem:invoke name=\"{name}\">\n", "</atem:invoke>\n"},
	Arg:   Fence{"<atem:parameter name=\"{key}\">", "</atem:parameter>\n"},
	Body:  Tagged,
	Guess: true,
	Also:  map[string][]string{"end": {"<|eot|>"}},
	Noise: []string{"<|start|>assistant"},
	Quiet: true,
}
