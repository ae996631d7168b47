package grammar

var toolCode = Grammar{
	Name:   "tool-code",
	Source: `Gemma's and Gemini's tool_code as a tag: Python in <tool_code>`,
	Call:   Fence{"<tool_code>\n", "\n</tool_code>"},
	Body:   Python,
}
