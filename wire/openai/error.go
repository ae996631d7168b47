package openai

import (
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/codec"
)

// Error writes an error, for a body or as the last frame of a stream.
func (Front) Error(err error) (status int, body []byte) { return codec.OpenAIError(err) }

// Models lists the chat models.
func (Front) Models(models []wire.Model) []byte { return codec.OpenAIModels(models) }
