package format

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// provider is what a kind of server does unless something else decides.
type provider struct {
	names string // words apart by blanks
	tools Way    // where the server says nothing of the model
	mute  Way    // where it did not answer the question
	text  string // dialect of a model whose name says nothing
	json  string // dialect of the word json
}

// providers are asked in this order; the last row is for all others.
// Sources: the provider tables of Autobyteus (JSON and XML forms) and llm-bawt
// (native, ReAct, and XML for what is not known).
var providers = []provider{
	{"openai responses mistral deepseek grok vllm", Native, Native, "hermes", "openai-json"},
	{"gemini", Native, Native, "hermes", "gemini-json"},
	{"anthropic", Native, Native, "autobyteus", "anthropic-json"},
	{"ollama", Text, Native, "react", "default-json"}, // its answer lists what the model can, tools among it
	{"gguf huggingface", Text, Text, "react", "default-json"},
	{"agent", None, None, "hermes", "default-json"}, // runs tools of its own
	{"", Native, Native, "hermes", "default-json"},
}

// weights are the names of models that run from a bare weights file.
var weights = []string{"*.gguf", "*-gguf"}

// kind is the row to look for: a bare weights file goes before its server. The
// chat formats that servers make up for one break after the first result.
func (c *chooser) kind() string {
	if grammar.Fits(weights, c.Model) {
		return "gguf"
	}
	return strings.ToLower(c.Provider)
}

func (c *chooser) kindName() string {
	switch kind := c.kind(); kind {
	case "":
		return "the server"
	case "gguf":
		return "a bare weights file (gguf)"
	default:
		return "provider " + kind
	}
}

func (c *chooser) provider() provider {
	kind := c.kind()
	i := slices.IndexFunc(providers, func(p provider) bool { return kind != "" && slices.Contains(strings.Fields(p.names), kind) })
	if i < 0 {
		i = len(providers) - 1
	}
	return providers[i]
}
