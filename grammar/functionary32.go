package grammar

var functionary32 = Grammar{
	Name:    "functionary-v3.2",
	Models:  []string{"functionary*3.2*"},
	Source:  `MeetKai functionary v3.2: >>>all for text, >>>NAME for a call`,
	Prefill: ">>>",
	Header:  Fence{">>>", "\n"},
	Routes: []Route{
		{Has: ">>>all\n", As: TextRoute},
		{Has: ">>>{name}\n", As: CallRoute, Write: Fence{Open: ">>>{name}\n"}},
	},
	Body: Args,
	Text: "code",
}
