package grammar

var reactCall = Grammar{
	Name:   "react-call",
	Source: `ReAct with the call as an expression: Action: f(x=1)`,
	Think:  Fence{"Thought: ", "\nFinal Answer: "},
	Call:   Fence{Open: "Action: "},
	Body:   Python,
	Also:   map[string][]string{"call.open": {"**Action:** ", "**Action**: "}},
	Line:   true,
	Result: Fence{"Observation: ", "\n"},
}
