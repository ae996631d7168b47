package grammar

var jsonTag = Grammar{
	Name:   "json-tag",
	Source: `JSON in a tag of the model's own choice, as models without a template write it`,
	Call:   Fence{"<json>\n", "\n</json>"},
	Body:   JSON,
	Also: map[string][]string{
		"call.open":  {"<xml>\n", "<tool>\n", "<response>\n", "<|im_start|>tool_call\n", "<|im_start|>\n"},
		"call.close": {"</xml>", "</tool>", "</response>", "<|im_end|>"},
	},
	Line: true,
}
