package grammar

var pangu = Grammar{
	Name:    "pangu",
	Aliases: []string{"pangu-json-array"},
	Models:  []string{"*pangu*"},
	Source:  `vLLM pangu_tool_parser.py; reads as LFM2, its own record for printing`,
	Group:   Fence{"<|tool_call_start|>[", "]<|tool_call_end|>"},
	Body:    JSON,
	Noise:   []string{"</answer>"},
}
