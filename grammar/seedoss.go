package grammar

var seedOSS = Grammar{
	Name:    "seed-oss",
	Aliases: []string{"seed-oss-xml", "reasoning:seed-think"},
	Models:  []string{"seed-oss*"},
	Source:  `Seed-OSS chat template; vLLM seed_oss.py`,
	Think:   Fence{"<seed:think>", "</seed:think>"},
	Group:   Fence{"<seed:tool_call>\n", "</seed:tool_call>"},
	Call:    Fence{"<function={name}>\n", "</function>\n"},
	Arg:     Fence{"<parameter={key}>", "</parameter>\n"},
	Body:    Tagged,
	Guess:   true,
	Also: map[string][]string{
		"call.open": {"<function {name}>\n"},
		"arg.open":  {"<parameter={key}\n", "<parameter=parameter={key}>\n"},
	},
	Noise: []string{"<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"},
}
