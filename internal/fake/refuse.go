package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// voice is whose words and shapes an answer has.
type voice int

const (
	ollamaVoice   voice = iota // /api
	ollamaV1Voice              // its /v1
	openaiVoice
	vllmVoice
	llamacppVoice
)

func (s *Server) voice(path string) voice {
	switch s.script.Kind {
	case "llamacpp":
		return llamacppVoice
	case "vllm":
		return vllmVoice
	case "openai", "lmstudio", "anthropic", "gemini":
		return openaiVoice
	}
	native := !strings.HasPrefix(path, "/v1/")
	switch {
	case native:
		return ollamaVoice
	case s.script.Kind == "ollama":
		return ollamaV1Voice
	}
	return openaiVoice
}

// refusal is an error that the server answers with.
type refusal struct {
	status  int
	kind    string // the error's type; "": the usual one of the status
	code    string
	param   string
	message string
	tokens  int // of a prompt that llama-server finds too long, with the window
	window  int
}

func (e *refusal) write(w http.ResponseWriter, v voice) { writeJSON(w, e.status, e.body(v)) }

type errorText struct {
	Error string `json:"error"`
}

type errorObject struct {
	Error any `json:"error"`
}

type errorDetail struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

type errorNumbered struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Type    string `json:"type"`
	Tokens  int    `json:"n_prompt_tokens,omitempty"`
	Window  int    `json:"n_ctx,omitempty"`
}

// body is the error in the voice's shape.
func (e *refusal) body(v voice) any {
	switch v {
	case ollamaVoice:
		return errorText{e.message}
	case llamacppVoice:
		return errorObject{errorNumbered{e.status, e.message, e.typ(v), e.tokens, e.window}}
	}
	return errorObject{errorDetail{e.message, e.typ(v), optional(e.param), optional(e.code)}}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (e *refusal) typ(v voice) string {
	switch {
	case e.kind != "":
		return e.kind
	case v == ollamaV1Voice:
		return "api_error"
	case e.status >= 500 || e.status == 0:
		return "server_error"
	case v == vllmVoice:
		return "BadRequestError"
	}
	return "invalid_request_error"
}

// refuses says why the real server would not take a request; nil: it would. It
// finds the model and counts the prompt on the way.
func (s *Server) refuses(v voice, in *chatRequest) *refusal {
	if no := s.refusesField(in); no != nil {
		return no
	}
	var known bool
	in.model, known = s.find(in.Model)
	in.tokens = s.script.count(in)
	switch v {
	case ollamaVoice:
		return s.ollamaRefuses(in, known)
	case ollamaV1Voice:
		return s.ollamaV1Refuses(in, known)
	case llamacppVoice:
		return s.llamacppRefuses(in)
	}
	return s.openaiRefuses(v, in, known)
}

// refusesField heeds the script's lines "refuse".
func (s *Server) refusesField(in *chatRequest) *refusal {
	for _, f := range s.script.refused {
		if !has(in.fields, strings.Split(f.name, ".")) {
			continue
		}
		text := f.text
		if text == "" {
			text = "Unrecognized request argument supplied: " + f.name
		}
		return &refusal{status: http.StatusBadRequest, param: f.name, message: text}
	}
	return nil
}

// has reports whether a field stands in an object, in one of its arrays' objects too.
func has(fields map[string]json.RawMessage, path []string) bool {
	raw, ok := fields[path[0]]
	if !ok || len(path) == 1 {
		return ok
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		var one map[string]json.RawMessage
		if json.Unmarshal(raw, &one) != nil {
			return false
		}
		list = append(list, one)
	}
	for _, one := range list {
		if has(one, path[1:]) {
			return true
		}
	}
	return false
}

// maxUser is the length of the fields that name a user. Source: OpenAI API
// reference, "Chat", safety_identifier.
const maxUser = 64

// openaiRefuses: the words are those of OpenAI's and vLLM's servers as their
// clients report them.
func (s *Server) openaiRefuses(v voice, in *chatRequest, known bool) *refusal {
	if !known {
		return &refusal{status: http.StatusNotFound, code: "model_not_found", message: fmt.Sprintf("The model `%s` does not exist.", in.Model)}
	}
	if len(in.Messages) == 0 {
		return &refusal{status: http.StatusBadRequest, param: "messages", code: "empty_array",
			message: "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."}
	}
	if v == vllmVoice && len(in.Tools) > 0 && !in.model.tools {
		return &refusal{status: http.StatusBadRequest, message: `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`}
	}
	if in.tokens > in.model.context {
		return &refusal{status: http.StatusBadRequest, param: "messages", code: "context_length_exceeded",
			message: fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens. Please reduce the length of the messages.", in.model.context, in.tokens)}
	}
	if v == vllmVoice {
		return nil
	}
	for _, field := range []string{"user", "safety_identifier"} {
		var text string
		if json.Unmarshal(in.fields[field], &text) != nil {
			continue
		}
		if n := utf8.RuneCountInString(text); n > maxUser {
			return &refusal{status: http.StatusBadRequest, param: field, code: "string_above_max_length",
				message: fmt.Sprintf("Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", field, maxUser, n)}
		}
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
