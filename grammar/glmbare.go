package grammar

var glmBare = Grammar{
	Name:    "glm-bare",
	Aliases: []string{"glm-argkv-xml", "glm-xml"},
	Models:  []string{"glm-4*", "glm4*", "glm-5*", "glm5*"},
	Source:  `GLM with its opener lost; SGLang glm4_moe_detector.py`,
	Call:    Fence{"{name}\n", "</tool_call>"},
	Arg:     Fence{"<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n"},
	Body:    Tagged,
	Guess:   true,
	Quoted:  true,
	Line:    true,
}
