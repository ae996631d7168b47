package gemini

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// statuses are Google's names for errors. Source: google.rpc.Code.
var statuses = map[wire.FaultKind]string{
	wire.BadInput: "INVALID_ARGUMENT", wire.NoKey: "UNAUTHENTICATED", wire.Forbidden: "PERMISSION_DENIED", wire.NotFound: "NOT_FOUND",
	wire.TooLarge: "INVALID_ARGUMENT", wire.RateLimited: "RESOURCE_EXHAUSTED", wire.Overloaded: "UNAVAILABLE",
	wire.Timeout: "DEADLINE_EXCEEDED", wire.Internal: "INTERNAL", wire.BadGateway: "INTERNAL",
}

// Error writes an error as Google does.
func (Front) Error(err error) (status int, body []byte) {
	f := wire.FaultOf(err)
	return f.Status(), shape.JSON(fault(f), nil).Raw
}

func fault(f wire.Fault) errorJSON {
	out := errorDetail{Code: f.Status(), Message: f.Message, Status: statuses[f.Kind]}
	if f.RetryAfter > 0 {
		out.Details = []retryInfo{{"type.googleapis.com/google.rpc.RetryInfo", fmt.Sprintf("%gs", f.RetryAfter.Seconds())}}
	}
	return errorJSON{out}
}

// CountReply is the answer to a countTokens request.
func CountReply(tokens int) []byte { return shape.JSON(countJSON{tokens}, nil).Raw }

// ModelsPath is where the list of models is, by GET.
const ModelsPath = "/v1beta/models"

const generate = "generateContent"

// Models reads the answer of ModelsPath.
func Models(body []byte) ([]wire.Model, error) {
	var j modelsJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return nil, fmt.Errorf("gemini: list of models: %w", err)
	}
	models := make([]wire.Model, 0, len(j.Models))
	for _, m := range j.Models {
		models = append(models, wire.Model{ID: bare(m.Name), Context: int(m.Window), Think: m.Thinks, Owner: "google",
			Chat: slices.Contains(m.Methods, generate)})
	}
	return models, nil
}

// Models lists the chat models.
func (Front) Models(models []wire.Model) []byte {
	j := modelsJSON{Models: []modelJSON{}}
	for _, m := range models {
		if m.Chat {
			j.Models = append(j.Models, modelJSON{Name: "models/" + m.ID, Display: m.ID, Window: shape.LooseInt(m.Context),
				Methods: []string{generate, "countTokens"}, Thinks: m.Think})
		}
	}
	return shape.JSON(j, nil).Raw
}
