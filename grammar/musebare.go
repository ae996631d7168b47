package grammar

var museBare = Grammar{
	Name:   "muse-bare",
	Source: `the calls of muse without the message's header`,
	Group:  Fence{"<atem:function_calls>\n", "</atem:function_calls>"},
	Call:   Fence{"<atem:invoke name=\"{name}\">\n", "</atem:invoke>\n"},
	Arg:    Fence{"<atem:parameter name=\"{key}\">", "</atem:parameter>\n"},
	Body:   Tagged,
	Guess:  true,
}
