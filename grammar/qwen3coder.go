package grammar

var qwen3Coder = Grammar{
	Name:    "qwen3-coder",
	Aliases: []string{"qwen3-coder-xml"},
	Models:  []string{"qwen3-coder*", "qwen3.[5-9]*", "nemotron-3*", "*mimo*", "step-3.5*", "iquest-coder-v1*"},
	Source:  `Qwen3-Coder chat template; the further spellings from vLLM step3p5_tool_parser.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<tool_call>\n", "</tool_call>"},
	Call:    Fence{"<function={name}>\n", "</function>\n"},
	Arg:     Fence{"<parameter={key}>\n", "\n</parameter>\n"},
	Body:    Tagged,
	Also: map[string][]string{
		"call.open": {"<function {name}>\n", "<function={name}\n"},
		"arg.open":  {"<parameter={key}\n", "<parameter=parameter={key}>\n", "<param={key}>\n"},
		"arg.close": {"\n</param>\n"},
	},
	Result: Fence{"<tool_response>\n", "\n</tool_response>"},

	Manifest: "functions",
	List:     Fence{"<tools>\n", "\n</tools>"},
}
