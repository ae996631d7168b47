package grammar

var openAIJSON = Grammar{
	Name:     "openai-json",
	Source:   `Autobyteus tool format for OpenAI, Mistral, DeepSeek and Grok`,
	Call:     Fence{"```json\n", "\n```"},
	Body:     JSON,
	Fields:   Fields{In: "tool.function"},
	Line:     true,
	Manifest: "openai",
}
