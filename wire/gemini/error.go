package gemini

import (
	"strings"

	"fmt"

	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// statuses are Google's names for errors. Source: google.rpc.Code.
var statuses = map[wire.FaultKind]string{
	wire.BadInput: "INVALID_ARGUMENT", wire.NoKey: "UNAUTHENTICATED", wire.Forbidden: "PERMISSION_DENIED", wire.NotFound: "NOT_FOUND",
	wire.TooLarge: "INVALID_ARGUMENT", wire.RateLimited: "RESOURCE_EXHAUSTED", wire.Overloaded: "UNAVAILABLE",
	wire.Timeout: "DEADLINE_EXCEEDED", wire.Internal: "INTERNAL", wire.BadGateway: "INTERNAL", wire.NotThere: "UNIMPLEMENTED",
}

// Error writes an error as Google does.
func (Front) Error(err error) (status int, body []byte) {
	f := wire.FaultOf(err)
	return f.Status(), shape.JSON(fault(f), nil).Raw
}

func fault(f wire.Fault) errorJSON {
	out := errorDetail{Code: f.Status(), Message: f.Overlong("input token count", "The input token count exceeds the maximum number of tokens allowed"), Status: statuses[f.Kind]}
	if f.RetryAfter > 0 {
		out.Details = []retryInfo{{"type.googleapis.com/google.rpc.RetryInfo", fmt.Sprintf("%gs", f.RetryAfter.Seconds())}}
	}
	return errorJSON{out}
}

// CountReply is the answer to a countTokens request.
func CountReply(tokens int) []byte { return shape.JSON(countJSON{tokens}, nil).Raw }

const generate = "generateContent"

// Models lists the chat models.
func (Front) Models(models []wire.Model) []byte {
	j := modelsJSON{Models: []modelJSON{}}
	for _, m := range models {
		if m.Chat {
			j.Models = append(j.Models, modelJSON{Name: "models/" + m.ID, Display: m.ID, Window: shape.LooseInt(m.Context),
				Methods: []string{generate, "countTokens"}, Thinks: m.Think, About: about(m)})
		}
	}
	return shape.JSON(j, nil).Raw
}

// about says what the API has no field for.
func about(m wire.Model) string {
	var words []string
	if m.Offer != "" {
		words = append(words, "tools: "+m.Offer)
	}
	if m.Vision != nil && *m.Vision {
		words = append(words, "images")
	}
	return strings.Join(words, ", ")
}
