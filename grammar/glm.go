package grammar

var glm = Grammar{
	Name:    "glm",
	Aliases: []string{"glm-argkv-xml", "glm-xml"},
	Models:  []string{"glm-4*", "glm4*", "glm-5*", "glm5*", "ling-3*", "*laguna*", "*poolside*", "spark-2.5*", "spark-3*", "*hyperclova*think*"},
	Source:  `GLM-4.5 to 5 chat templates; vLLM glm47_moe.py, SGLang glm4_moe_detector.py`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<tool_call>{name}\n", "</tool_call>"},
	Arg:     Fence{"<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n"},
	Body:    Tagged,
	Guess:   true,
	Quoted:  true,
	Also: map[string][]string{
		"call.open": {"<tool_call>{name}\\n"}, "arg.open": {"<arg_key>{key}</arg_key>\\n<arg_value>"}, "arg.close": {"</arg_value>\\n"},
	},
	Result: Fence{"<tool_response>\n", "\n</tool_response>"},

	Manifest: "functions",
	List:     Fence{"<tools>\n", "\n</tools>"},
}
