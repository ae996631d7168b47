package grammar

var react = Grammar{
	Name:   "react",
	Source: `ReAct (Yao et al. 2022) in the Action / Action Input form of LangChain and llm-bawt`,
	Think:  Fence{"Thought: ", "\nFinal Answer: "},
	Call:   Fence{Open: "Action: {name}\nAction Input: "},
	Body:   Args,
	Text:   "input",
	Also: map[string][]string{
		"call.open": {
			"**Action:** {name}\n**Action Input:** ", "**Action**: {name}\n**Action Input**: ",
			"Action {n}: {name}\nAction Input {n}: ", "Action: {name}\n",
		},
		"call.close":  {"Observation:", "**Observation:**", "**Observation**:", "Observation {n}:"},
		"think.open":  {"**Thought:** ", "**Thought**: ", "Thought {n}: "},
		"think.close": {"**Final Answer:** ", "**Final Answer**: "},
	},
	Line:   true,
	Result: Fence{"Observation: ", "\n"},

	Manifest: "react",
}
