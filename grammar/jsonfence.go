package grammar

var jsonFence = Grammar{
	Name:    "json-fence",
	Aliases: []string{"markdown-json-fence", "cohere-command-r-plus", "xlam-multi"},
	Models:  []string{"rwkv*", "command-r-plus*", "*xlam*"},
	Source:  `JSON in a code fence: RWKV, Command R+, models without a template`,
	Think:   Fence{"<think>\n", "\n</think>\n"},
	Call:    Fence{"```json\n", "\n```"},
	Body:    JSON,
	Also:    map[string][]string{"call.open": {"```\n", "**Tool Call:**\n```json\n", "Action:\n```json\n"}},
	Line:    true,
}
