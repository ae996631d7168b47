package grammar

var gemma4Bare = Grammar{
	Name:    "gemma4-bare",
	Aliases: []string{"gemma4-call"},
	Models:  []string{"gemma-4*", "gemma4*"},
	Source:  `special tokens stripped by the server: call:NAME{…} of Gemma 4; SGLang gemma4_detector.py`,
	Call:    Fence{Open: "call:{name}"},
	Body:    Args,
	Quote:   `<|"|>`,
	Line:    true,
}
