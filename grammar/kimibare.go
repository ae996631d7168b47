package grammar

var kimiBare = Grammar{
	Name:    "kimi-bare",
	Aliases: []string{"kimi-k2-section"},
	Models:  []string{"kimi-k2*"},
	Source:  `special tokens stripped by the server: functions.NAME:IDX{…} of Kimi K2`,
	Call:    Fence{Open: "{id} "},
	Body:    Args,
	ID:      "functions.{name}:{n}",
	Line:    true,
}
