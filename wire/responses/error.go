package responses

import (
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Error writes an error as OpenAI does.
func (Front) Error(err error) (status int, body []byte) { return codec.OpenAIError(err) }

// failure is the code in a response that failed.
func failure(f wire.Fault) string {
	switch {
	case f.Code == "context_length_exceeded":
		return f.Code
	case f.Kind == wire.RateLimited:
		return "rate_limit_exceeded"
	case f.Kind == wire.BadInput:
		return "invalid_prompt"
	}
	return "server_error"
}

// CountReply is the answer to an input_tokens request.
func CountReply(tokens int) []byte {
	return shape.JSON(countJSON{"response.input_tokens", tokens}, nil).Raw
}

// Models lists the chat models.
func (Front) Models(models []wire.Model) []byte { return codec.OpenAIModels(models) }

type countJSON struct {
	Object string `json:"object"`
	Input  int    `json:"input_tokens"`
}
