package grammar

var sentinel = Grammar{
	Name:    "sentinel",
	Aliases: []string{"autobyteus-sentinel"},
	Source:  `Autobyteus sentinel segments: a JSON header, then the text of a file or a command`,
	Call:    Fence{"[[SEG_START ", "\n[[SEG_END]]"},
	Arg:     Fence{Open: "]]"},
	Body:    JSON,
	Fields:  Fields{Name: "tool_name", Args: "arguments"},
	Text:    "content",
}
