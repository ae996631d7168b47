package grammar

var functionGemma = Grammar{
	Name:    "functiongemma",
	Aliases: []string{"functiongemma-call"},
	Models:  []string{"functiongemma*"},
	Source:  `FunctionGemma 270M model card; vLLM functiongemma_tool_parser.py`,
	Call:    Fence{"<start_function_call>call:{name}", "<end_function_call>"},
	Body:    Args,
	Quote:   "<escape>",
	Result:  Fence{"<start_function_response>response:{name}{value:<escape>", "<escape>}<end_function_response>"},
}
