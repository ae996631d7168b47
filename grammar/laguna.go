package grammar

var laguna = Grammar{
	Name:   "laguna",
	Models: []string{"*laguna*"},
	Source: `Ollama laguna parser: GLM arguments under <user>`,
	Think:  Fence{"<think>\n", "\n</think>\n"},
	Call:   Fence{"<user>{name}\n", "</user>"},
	Arg:    Fence{"<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>\n"},
	Body:   Tagged,
	Line:   true,
}
