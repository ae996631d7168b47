package codec

import (
	"regexp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// errorTypes are the error types of OpenAI's APIs. Source: API reference, "Error codes".
var errorTypes = map[wire.FaultKind]string{
	wire.BadInput: "invalid_request_error", wire.NoKey: "authentication_error", wire.Forbidden: "permission_error",
	wire.NotFound: "not_found_error", wire.TooLarge: "request_too_large", wire.RateLimited: "rate_limit_error",
	wire.Overloaded: "server_error", wire.Timeout: "server_error", wire.Internal: "server_error", wire.BadGateway: "server_error",
	wire.NotThere: "server_error",
}

type errorJSON struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// Modes are the words of a tool_choice; "any" is Mistral's.
var Modes = map[string]utp.ChoiceMode{"auto": utp.ChoiceAuto, "required": utp.ChoiceRequired, "any": utp.ChoiceRequired, "none": utp.ChoiceNone}

// OpenAIError writes an error as all of OpenAI's APIs do.
func OpenAIError(err error) (status int, body []byte) {
	f := wire.FaultOf(err)
	j := errorDetail{Message: f.Message, Type: errorTypes[f.Kind]}
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

type modelsJSON struct {
	Object string      `json:"object"`
	Data   []modelJSON `json:"data"`
}

type modelJSON struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	Owner   string `json:"owned_by"`
	Context int    `json:"context_length,omitempty"` // OpenRouter
	Tools   string `json:"tools,omitempty"`          // our own: how tools reach the model
	Think   *bool  `json:"thinking,omitempty"`       // our own, as the next
	Vision  *bool  `json:"vision,omitempty"`
}

// OpenAIModels lists the chat models as all of OpenAI's APIs do.
func OpenAIModels(models []wire.Model) []byte {
	j := modelsJSON{Object: "list", Data: []modelJSON{}}
	for _, m := range models {
		if m.Chat {
			j.Data = append(j.Data, modelJSON{m.ID, "model", m.Created, m.Owner, m.Context, m.Offer, m.Think, m.Vision})
		}
	}
	return shape.JSON(j, nil).Raw
}

// reasoners are the models that always reason, and optional those that do where an
// effort is asked for. While they reason they refuse temperature and top_p.
// Source: OpenAI, "Reasoning models", unsupported parameters; "Using GPT-5.2".
var (
	reasoners = regexp.MustCompile(`^(o\d|gpt-5(-mini|-nano|-codex|-pro|-\d{4}|$))`)
	optional  = regexp.MustCompile(`^gpt-5\.\d`)
)

// Sampling is how a model of OpenAI's is told to sample: not at all while it
// reasons, where neither is taken.
func (o *Outgoing) Sampling(r *utp.Request) (temperature, topP *float64) {
	temperature, topP = r.Params.Temperature, r.Params.TopP
	effort := r.Params.Effort
	if effort == "none" || !reasoners.MatchString(r.Model) && (effort == "" || !optional.MatchString(r.Model)) {
		return temperature, topP
	}
	for _, p := range []struct {
		name  string
		value **float64
	}{{"temperature", &temperature}, {"top_p", &topP}} {
		if *p.value != nil {
			*p.value = nil
			o.Lose("params."+p.name, "dropped", "reasoning models refuse it")
		}
	}
	return temperature, topP
}

// OpenAIUsage reads counts as all of OpenAI's APIs give them: the cached tokens
// are among the prompt's, those of the reasoning among the completion's.
func OpenAIUsage(prompt, cached, written, completion, reasoning shape.LooseInt) utp.Usage {
	out := utp.Usage{CacheRead: int(cached), CacheWrite: int(written), Output: int(completion)}
	out.Input = max(0, int(prompt)-out.CacheRead-out.CacheWrite)
	if n := int(reasoning); n <= out.Output {
		out.Output, out.Reasoning = out.Output-n, n
	}
	return out
}
