package responses

import (
	"encoding/json"
	"fmt"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// types are the error types of OpenAI's API. Source: API reference, "Error codes".
var types = map[wire.FaultKind]string{
	wire.BadInput: "invalid_request_error", wire.NoKey: "authentication_error", wire.Forbidden: "permission_error",
	wire.NotFound: "not_found_error", wire.TooLarge: "request_too_large", wire.RateLimited: "rate_limit_error",
	wire.Overloaded: "server_error", wire.Timeout: "server_error", wire.Internal: "server_error", wire.BadGateway: "server_error",
}

// Error writes an error as OpenAI does.
func (Front) Error(err error) (status int, body []byte) {
	f := wire.FaultOf(err)
	j := errorDetail{Message: f.Message, Type: types[f.Kind]}
	if f.Param != "" {
		j.Param = &f.Param
	}
	if f.Code != "" {
		j.Code = &f.Code
	}
	return f.Status(), shape.JSON(errorJSON{j}, nil).Raw
}

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

// ModelsPath is where the list of models is, by GET.
const ModelsPath = "/v1/models"

// Models reads the answer of ModelsPath. It does not say what a model can do.
func Models(body []byte) ([]wire.Model, error) {
	var j modelsJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("responses: list of models: %w", err)
	}
	models := make([]wire.Model, 0, len(j.Data))
	for _, m := range j.Data {
		models = append(models, wire.Model{ID: m.ID, Owner: m.Owner, Created: int64(m.Created), Chat: true})
	}
	return models, nil
}

// Models lists the chat models.
func (Front) Models(models []wire.Model) []byte {
	j := modelsJSON{Object: "list", Data: []modelJSON{}}
	for _, m := range models {
		if m.Chat {
			j.Data = append(j.Data, modelJSON{m.ID, "model", shape.LooseInt(m.Created), m.Owner})
		}
	}
	return shape.JSON(j, nil).Raw
}
