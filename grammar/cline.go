package grammar

var cline = Grammar{
	Name:    "cline",
	Aliases: []string{"roo-code"},
	Source:  `Cline, Roo Code: the tag is the tool's name, its children the arguments`,
	Call:    Fence{"<{name}>\n", "</{name}>"},
	Arg:     Fence{"<{key}>", "</{key}>\n"},
	Body:    Tagged,
	Line:    true,
	Result:  Fence{"[{name}] Result:\n", "\n"},
}
