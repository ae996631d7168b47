package grammar

var harmonyBare = Grammar{
	Name:   "harmony-bare",
	Models: []string{"*gpt-oss*"},
	Source: `openai/harmony with its special tokens stripped by the server`,
	Call:   Fence{Open: "assistantcommentary to=functions.{name} json"},
	Body:   Args,
	Also: map[string][]string{"call.open": {
		"commentary to=functions.{name} json", "assistant to=functions.{name}commentary json", "to=functions.{name} json",
	}},
}
