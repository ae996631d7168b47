package grammar

var nemotron = Grammar{
	Name:    "nemotron",
	Aliases: []string{"nemotron-toolcall-json", "nemotron-toolcall-array"},
	Models:  []string{"*nemotron-nano*v2*", "*nemotron-deci*", "*llama-3*nemotron*"},
	Source:  `vLLM nemotron_json_tool_parser.py; Nemotron Nano v2 chat template`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Group:   Fence{"<TOOLCALL>[", "]</TOOLCALL>"},
	Body:    JSON,
	Also:    map[string][]string{"group.open": {"<TOOLCALL>"}},
	Result:  Fence{"<TOOL_RESPONSE>[", "]</TOOL_RESPONSE>"},

	List: Fence{"<AVAILABLE_TOOLS>[", "]</AVAILABLE_TOOLS>"},
}
