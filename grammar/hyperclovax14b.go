package grammar

var hyperclovax14b = Grammar{
	Name:    "hyperclovax-14b",
	Aliases: []string{"hyperclovax14b-header-json"},
	Models:  []string{"*hyperclova*14b*"},
	Source:  `vLLM hyperclovax_seed_think_14b_tool_parser.py`,
	Call:    Fence{" -> tool/function_call\n", "<|im_end|>"},
	Body:    JSON,
}
