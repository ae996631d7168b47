package grammar

var reactTool = Grammar{
	Name:   "react-tool",
	Models: []string{"*dolphin*"},
	Source: `Dolphin and kindred models asked for ReAct: # Tool: and # Arguments: lines`,
	Call:   Fence{Open: "# Tool: {name}\n# Arguments: "},
	Body:   Args,
	Text:   "input",
	Also: map[string][]string{
		"call.open": {
			"Tool: {name}\nArguments: ", "# Tool: {name}\n# Argument: ", "Tool: {name}\nArgument: ",
			"# Function: {name}\n# Arguments: ", "Function: {name}\nArguments: ",
		},
		"call.close": {"Observation:"},
	},
	Line:   true,
	Result: Fence{"Observation: ", "\n"},

	Manifest: "react",
}
