package grammar

var iquest = Grammar{
	Name:    "iquest",
	Aliases: []string{"iquest-argkv-xml"},
	Models:  []string{"iquest-coder-v2*"},
	Source:  `vLLM iquest_coder_v2_tool_parser.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<iquestcoder_tool_call>{name}\n", "</iquestcoder_tool_call>"},
	Arg:     Fence{"<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n"},
	Body:    Tagged,
}
