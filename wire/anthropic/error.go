package anthropic

import (
	"time"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// types are the error types. Source: API reference, "Errors".
var types = map[wire.FaultKind]string{
	wire.BadInput: "invalid_request_error", wire.NoKey: "authentication_error", wire.Forbidden: "permission_error",
	wire.NotFound: "not_found_error", wire.TooLarge: "request_too_large", wire.RateLimited: "rate_limit_error",
	wire.Overloaded: "overloaded_error", wire.Timeout: "timeout_error", wire.Internal: "api_error", wire.BadGateway: "api_error",
	wire.NotThere: "api_error",
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
	d := errorDetail{Type: types[f.Kind], Message: f.Overlong("prompt is too long", "prompt is too long")}
	if f.Param == thread {
		d.Details = &threadDetails{"thread_unsupported_request", []string{thread}}
	}
	return errorJSON{"error", d}
}

// CountReply is the answer to a count_tokens request.
func CountReply(tokens int) []byte { return shape.JSON(countJSON{tokens}, nil).Raw }

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

type errorJSON struct {
	Type  string      `json:"type"`
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Type    string         `json:"type"`
	Message string         `json:"message"`
	Details *threadDetails `json:"details,omitempty"`
}

// threadDetails say that a conversation is not held by the server.
type threadDetails struct {
	Code        string   `json:"error_code"`
	Unsupported []string `json:"unsupported"`
}

type modelsJSON struct {
	Data    []modelJSON `json:"data"`
	HasMore bool        `json:"has_more"`
	First   *string     `json:"first_id"`
	Last    *string     `json:"last_id"`
}

type modelJSON struct {
	Type    string         `json:"type"`
	ID      string         `json:"id"`
	Name    string         `json:"display_name"`
	Created string         `json:"created_at"` // RFC 3339
	Window  shape.LooseInt `json:"max_input_tokens,omitempty"`
}

type countJSON struct {
	Input int `json:"input_tokens"`
}
