package grammar

var hyV4 = Grammar{
	Name:    "hy-v4",
	Aliases: []string{"hy-v4-argkv-xml"},
	Models:  []string{"hy4*", "hunyuan-4*"},
	Source:  `vLLM hy_v4_tool_parser.py: Hy3 without the separator`,
	Think:   Fence{"<think{sfx}>", "</think{sfx}>"},
	Group:   Fence{"<tool_calls{sfx}>\n", "</tool_calls{sfx}>"},
	Call:    Fence{"<tool_call{sfx}>{name}", "</tool_call{sfx}>\n"},
	Arg:     Fence{"<arg_key{sfx}>{key}</arg_key{sfx}><arg_value{sfx}>", "</arg_value{sfx}>"},
	Body:    Tagged,
}
