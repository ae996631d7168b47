package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// What Ollama refuses. Source: server/routes.go, api/types.go and
// middleware/openai.go of v0.17.4, and its answers.

func (s *Server) ollamaRefuses(in *chatRequest, known bool) *refusal {
	think, no := readThink(in.Think)
	switch {
	case no != nil:
		return no
	case len(in.Messages) > 0 && !contentIsText(in.Messages):
		return bad("json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string")
	case in.Model == "":
		return bad("model is required")
	case !known:
		return noModel(in.Model)
	case in.empty():
		return nil
	}
	return s.ollamaModelRefuses(in, think)
}

func (s *Server) ollamaV1Refuses(in *chatRequest, known bool) *refusal {
	think := thought{}
	switch in.Effort {
	case "":
	case "none":
		think = thought{set: true}
	case "high", "medium", "low":
		think = thought{set: true, on: true, word: in.Effort}
	default:
		no := bad(fmt.Sprintf("invalid reasoning value: '%s' (must be %s, or \"none\")", in.Effort, `"high", "medium", "low"`))
		no.kind = "invalid_request_error"
		return no
	}
	if len(in.Messages) == 0 {
		no := bad("[] is too short - 'messages'")
		no.kind = "invalid_request_error"
		return no
	}
	if !known {
		return noModel(in.Model)
	}
	return s.ollamaModelRefuses(in, think)
}

// ollamaModelRefuses is what is refused of a request with something to answer.
func (s *Server) ollamaModelRefuses(in *chatRequest, think thought) *refusal {
	switch {
	case len(in.Tools) > 0 && !in.model.tools:
		return bad(fmt.Sprintf("registry.ollama.ai/library/%s does not support tools", in.model.name))
	case think.on && !in.model.thinks:
		return bad(fmt.Sprintf("%q does not support thinking", in.Model))
	case think.word != "" && in.model.family != "gptoss":
		return bad(fmt.Sprintf("think value %q is not supported for this model", think.word))
	}
	if no := wrongOption(in.Options); no != nil {
		return no
	}
	if f := string(in.Format); f != "" && f != "null" && f != `""` && f != `"json"` && f[0] != '{' {
		return &refusal{status: http.StatusInternalServerError,
			message: fmt.Sprintf(`invalid format: %q; expected "json" or a valid JSON Schema object`, f)}
	}
	if in.Truncate != nil && !*in.Truncate && in.tokens > s.window(in) {
		return bad("the input length exceeds the context length")
	}
	return nil
}

func bad(message string) *refusal {
	return &refusal{status: http.StatusBadRequest, message: message}
}

func noModel(name string) *refusal {
	return &refusal{status: http.StatusNotFound, message: fmt.Sprintf("model '%s' not found", name)}
}

func contentIsText(messages []message) bool {
	return !slices.ContainsFunc(messages, func(m message) bool { return strings.HasPrefix(string(m.Content), "[") })
}

// thought is the value of think.
type thought struct {
	set, on bool
	word    string
}

// readThink reads it as api.ThinkValue does.
func readThink(raw json.RawMessage) (t thought, no *refusal) {
	if len(raw) == 0 || string(raw) == "null" {
		return thought{}, nil
	}
	t.set = true
	if json.Unmarshal(raw, &t.on) == nil {
		return t, nil
	}
	if json.Unmarshal(raw, &t.word) != nil {
		return t, bad(`think must be a boolean or string ("high", "medium", "low", true, or false)`)
	}
	if !slices.Contains([]string{"high", "medium", "low"}, t.word) {
		return t, bad(fmt.Sprintf(`invalid think value: %q (must be "high", "medium", "low", true, or false)`, t.word))
	}
	t.on = true
	return t, nil
}

// optionTypes are those of the options that clients set. Source: api/types.go, Options.
var optionTypes = map[string]string{
	"num_ctx": "integer", "num_batch": "integer", "num_gpu": "integer", "num_thread": "integer", "num_predict": "integer",
	"num_keep": "integer", "seed": "integer", "top_k": "integer", "repeat_last_n": "integer",
	"temperature": "float32", "top_p": "float32", "min_p": "float32", "typical_p": "float32", "repeat_penalty": "float32",
	"presence_penalty": "float32", "frequency_penalty": "float32", "stop": "array",
}

// wrongOption is the first option of a wrong type; unknown ones are let pass.
func wrongOption(options map[string]json.RawMessage) *refusal {
	for name, raw := range options {
		want := optionTypes[name]
		var number float64
		var list []any
		wrong := want == "array" && json.Unmarshal(raw, &list) != nil ||
			(want == "integer" || want == "float32") && json.Unmarshal(raw, &number) != nil
		if wrong {
			return &refusal{status: http.StatusInternalServerError, message: fmt.Sprintf("option %q must be of type %s", name, want)}
		}
	}
	return nil
}
