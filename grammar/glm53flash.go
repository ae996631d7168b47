package grammar

var glm53Flash = Grammar{
	Name:    "glm-5.3-flash",
	Aliases: []string{"glm53flash-name-json"},
	Models:  []string{"glm-5.3-flash*"},
	Source:  `SGLang glm53_flash_detector.py; a display name may stand before the name`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{Open: "<tool_call>{name}>"},
	Arg:     Fence{"<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n"},
	Body:    Args,
	Also:    map[string][]string{"arg.open": {"<arg_key>{key}="}},
}
