package grammar

var hyV3 = Grammar{
	Name:    "hy-v3",
	Aliases: []string{"hy-v3-toolsep-xml"},
	Models:  []string{"hy3*", "hunyuan-3*"},
	Source:  `Hunyuan Hy3 chat template; vLLM hy_v3_tool_parser.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<tool_calls{sfx}>\n", "</tool_calls{sfx}>"},
	Call:    Fence{"<tool_call{sfx}>{name}<tool_sep{sfx}>\n", "</tool_call{sfx}>\n"},
	Arg:     Fence{"<arg_key{sfx}>{key}</arg_key{sfx}>\n<arg_value{sfx}>", "</arg_value{sfx}>\n"},
	Body:    Tagged,
}
