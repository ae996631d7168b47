package grammar

var nameJSON = Grammar{
	Name:    "name-json",
	Aliases: []string{"name-args"},
	Models:  []string{"devstral*", "magistral*", "ministral*", "deepseek-v3.1*"},
	Source:  `special tokens stripped by the server: NAME{…} of Mistral v11 and DeepSeek-V3.1, to=functions.NAME {…} of harmony`,
	Call:    Fence{Open: "{name} "},
	Body:    Args,
	Also:    map[string][]string{"call.open": {"to=functions.{name} "}},
	Line:    true,
}
