package openai

import (
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// types are the error types. Source: API reference, "Error codes".
var types = map[wire.FaultKind]string{
	wire.BadInput: "invalid_request_error", wire.NoKey: "authentication_error", wire.Forbidden: "permission_error",
	wire.NotFound: "not_found_error", wire.TooLarge: "request_too_large", wire.RateLimited: "rate_limit_error",
	wire.Overloaded: "server_error", wire.Timeout: "server_error", wire.Internal: "server_error", wire.BadGateway: "server_error",
}

// Error writes an error, for a body or as the last frame of a stream.
func (Front) Error(err error) (status int, body []byte) {
	f := wire.FaultOf(err)
	j := errorDetail{Message: f.Message, Type: types[f.Kind]}
	if f.Code == "insufficient_quota" {
		j.Type = f.Code
	}
	if f.Param != "" {
		j.Param = &f.Param
	}
	if f.Code != "" {
		j.Code = &f.Code
	}
	return f.Status(), shape.JSON(errorJSON{j}, nil).Raw
}

// Models lists the chat models.
func (Front) Models(models []wire.Model) []byte {
	j := modelsJSON{Object: "list", Data: []modelJSON{}}
	for _, m := range models {
		if m.Chat {
			j.Data = append(j.Data, modelJSON{m.ID, "model", m.Created, m.Owner, m.Context})
		}
	}
	return shape.JSON(j, nil).Raw
}
