package translate_test

import (
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/anthropic"
	"github.com/unifiedtoolprotocol/utp/wire/gemini"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
	"github.com/unifiedtoolprotocol/utp/wire/responses"
	"github.com/unifiedtoolprotocol/utp/wire/translate"
)

// backs read what was written for an API.
var backs = map[translate.API]wire.Back{
	translate.Anthropic: anthropic.Back{}, translate.Gemini: gemini.Back{}, translate.Ollama: ollama.Back{},
	translate.Responses: responses.Back{}, translate.OpenAI: openai.Back{},
}
