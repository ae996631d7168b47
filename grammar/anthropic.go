package grammar

var anthropic = Grammar{
	Name:    "anthropic",
	Aliases: []string{"anthropic-invoke", "anthropic_xml"},
	Models:  []string{"claude*"},
	Source:  `Anthropic's text format before native tools: function_calls, also with the antml: prefix`,
	Think:   Fence{"<thinking>\n", "\n</thinking>\n"},
	Group:   Fence{"<function_calls>\n", "</function_calls>"},
	Call:    Fence{"<invoke name=\"{name}\">\n", "</invoke>\n"},
	Arg:     Fence{"<parameter name=\"{key}\">", "</parameter>\n"},
	Body:    Tagged,
	Also: map[string][]string{
		"group.open": {"<antml:function_calls>\n"}, "group.close": {"</antml:function_calls>"},
		"call.open": {"<antml:invoke name=\"{name}\">\n"}, "call.close": {"</antml:invoke>"},
		"arg.open": {"<antml:parameter name=\"{key}\">"}, "arg.close": {"</antml:parameter>"},
	},
	Result: Fence{"<function_results>\n<result>\n<tool_name>{name}</tool_name>\n<stdout>\n", "\n</stdout>\n</result>\n</function_results>"},
}
