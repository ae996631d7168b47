package grammar

var anthropicJSON = Grammar{
	Name:     "anthropic-json",
	Source:   `the input_schema definitions and tool_use objects of Anthropic's API, as text`,
	Call:     Fence{"```json\n", "\n```"},
	Body:     JSON,
	Fields:   Fields{Args: "input"},
	Line:     true,
	Manifest: "anthropic",
}
