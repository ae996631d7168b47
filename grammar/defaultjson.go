package grammar

var defaultJSON = Grammar{
	Name:     "default-json",
	Source:   `Autobyteus tool format for providers without a form of their own`,
	Call:     Fence{"```json\n", "\n```"},
	Body:     JSON,
	Fields:   Fields{In: "tool", Name: "function", Args: "parameters"},
	Line:     true,
	Manifest: "autobyteus",
}
