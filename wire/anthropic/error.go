package anthropic

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// types are the error types. Source: API reference, "Errors".
var types = map[wire.FaultKind]string{
	wire.BadInput: "invalid_request_error", wire.NoKey: "authentication_error", wire.Forbidden: "permission_error",
	wire.NotFound: "not_found_error", wire.TooLarge: "request_too_large", wire.RateLimited: "rate_limit_error",
	wire.Overloaded: "overloaded_error", wire.Timeout: "timeout_error", wire.Internal: "api_error", wire.BadGateway: "api_error",
}

// overloaded is Anthropic's own status for it.
const overloaded = 529

// Error writes an error as Anthropic does, for a body or for an error event.
func (Front) Error(err error) (status int, body []byte) {
	f := wire.FaultOf(err)
	if status = f.Status(); f.Kind == wire.Overloaded {
		status = overloaded
	}
	return status, shape.JSON(fault(f), nil).Raw
}

func fault(f wire.Fault) errorJSON {
	d := errorDetail{Type: types[f.Kind], Message: f.Message}
	if f.Param == thread {
		d.Details = &threadDetails{"thread_unsupported_request", []string{thread}}
	}
	return errorJSON{"error", d}
}

// CountReply is the answer to a count_tokens request.
func CountReply(tokens int) []byte { return shape.JSON(countJSON{tokens}, nil).Raw }

// ModelsPath is where the list of models is, by GET.
const ModelsPath = "/v1/models"

// Models reads the answer of ModelsPath.
func Models(body []byte) ([]wire.Model, error) {
	var j modelsJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("anthropic: list of models: %w", err)
	}
	yes := true
	models := make([]wire.Model, 0, len(j.Data))
	for _, m := range j.Data {
		out := wire.Model{ID: m.ID, Context: int(m.Window), Tools: &yes, Chat: true, Owner: provider}
		if t, err := time.Parse(time.RFC3339, m.Created); err == nil {
			out.Created = t.Unix()
		}
		models = append(models, out)
	}
	return models, nil
}

// Models lists the chat models.
func (Front) Models(models []wire.Model) []byte {
	j := modelsJSON{Data: []modelJSON{}}
	for _, m := range models {
		if !m.Chat {
			continue
		}
		created := time.Unix(m.Created, 0).UTC().Format(time.RFC3339)
		j.Data = append(j.Data, modelJSON{"model", m.ID, m.ID, created, shape.LooseInt(m.Context)})
	}
	if n := len(j.Data); n > 0 {
		j.First, j.Last = &j.Data[0].ID, &j.Data[n-1].ID
	}
	return shape.JSON(j, nil).Raw
}
