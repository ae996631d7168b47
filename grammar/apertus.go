package grammar

var apertus = Grammar{
	Name:    "apertus",
	Aliases: []string{"apertus-keyed-json", "reasoning:apertus-inner"},
	Models:  []string{"*apertus*"},
	Source:  `vLLM apertus_tool_parser.py; Apertus chat template: the key is the tool's name`,
	Think:   Fence{"<|inner_prefix|>", "<|inner_suffix|>"},
	Group:   Fence{"<|tools_prefix|>[", "]<|tools_suffix|>"},
	Body:    JSON,
	Fields:  Fields{Name: "{name}"},
}
