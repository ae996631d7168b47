package grammar

var pythonLines = Grammar{
	Name:    "python-lines",
	Aliases: []string{"bare-pythonic-lines"},
	Source:  `calls as lines of Python; vLLM granite_pythonic_tool_parser.py`,
	Body:    Python,
	Line:    true,
}
