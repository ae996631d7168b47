package grammar

var autobyteus = Grammar{
	Name:    "autobyteus",
	Aliases: []string{"autobyteus-xml"},
	Source:  `Autobyteus XML tool format: manifest and parser`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"<tool name=\"{name}\">\n<arguments>\n", "</arguments>\n</tool>"},
	Arg:     Fence{"<arg name=\"{key}\">", "</arg>\n"},
	Item:    Fence{"<item>", "</item>"},
	Raw:     Fence{"__START_CONTENT__\n", "__END_CONTENT__"},
	Body:    Tagged,
	Also: map[string][]string{
		"call.open":  {"<tool name=\"{name}\">\n"},
		"call.close": {"</tool>"},
		"raw.open":   {"__START_PATCH__\n"}, "raw.close": {"__END_PATCH__"},
	},
	XML: true,

	Manifest: "elements",
}
