package ollama

import (
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Error writes an error, for a body or as the last line of a stream.
func (Front) Error(err error) (status int, body []byte) {
	f := wire.FaultOf(err)
	if status = f.Status(); f.Kind == wire.TooLarge {
		status = 400
	}
	return status, shape.JSON(errorJSON{f.Overlong("context length", "the input length exceeds the context length")}, nil).Raw
}
