package grammar

var gigachat3Bare = Grammar{
	Name:   "gigachat3-bare",
	Models: []string{"*gigachat3*", "*gigachat-3*"},
	Source: `GigaChat 3 with its special tokens stripped by the server`,
	Call:   Fence{Open: "function call"},
	Body:   JSON,
	Line:   true,
}
