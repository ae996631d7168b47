package grammar

var functionary31 = Grammar{
	Name:   "functionary-v3.1",
	Models: []string{"functionary*3.1*"},
	Source: `MeetKai functionary v3.1 and Llama 3.1 custom tools: <function=NAME>{…}`,
	Call:   Fence{"<function={name}>", "</function>"},
	Body:   Args,
}
