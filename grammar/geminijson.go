package grammar

var geminiJSON = Grammar{
	Name:     "gemini-json",
	Source:   `Autobyteus tool format for Gemini`,
	Call:     Fence{"```json\n", "\n```"},
	Body:     JSON,
	Fields:   Fields{Args: "args"},
	Line:     true,
	Manifest: "gemini",
}
