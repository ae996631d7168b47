package wire

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestReadError(t *testing.T) {
	for _, c := range []struct{ name, body, message, typ, code string }{
		{"OpenAI", `{"error":{"message":"no such model","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, "no such model", "invalid_request_error", "model_not_found"},
		{"Ollama", `{"error":"model 'x' not found"}`, "model 'x' not found", "", ""},
		{"llama.cpp", `{"error":{"code":500,"message":"boom","type":"server_error"}}`, "boom", "server_error", "500"},
		{"old vLLM", `{"object":"error","message":"too long","type":"BadRequestError","code":400}`, "too long", "BadRequestError", "400"},
		{"Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, "busy", "overloaded_error", ""},
		{"Gemini", `{"error":{"code":404,"message":"gone","status":"NOT_FOUND"}}`, "gone", "NOT_FOUND", "404"},
		{"FastAPI", `{"detail":[{"loc":["body"],"msg":"field required"},{"msg":"too short"}]}`, "field required; too short", "", ""},
		{"FastAPI text", `{"detail":"Not Found"}`, "Not Found", "", ""},
		{"Google for OpenAI's clients", `[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[]}}]`, "slow", "RESOURCE_EXHAUSTED", "429"},
		{"an empty list", `[]`, "", "", ""},
		{"null", `{"error":null,"message":"m"}`, "m", "", ""},
		{"HTML", "<html>\n502</html>", "", "", ""},
		{"nothing", "", "", "", ""},
	} {
		e := ReadError(400, []byte(c.body))
		if e.Message != c.message || e.Type != c.typ || e.Code != c.code || e.Status != 400 {
			t.Errorf("%s: %+v", c.name, e)
		}
		if !strings.HasPrefix(e.Error(), "HTTP 400: ") || len(e.Error()) < len("HTTP 400: x") {
			t.Errorf("%s: %q says too little", c.name, e)
		}
	}
}

// The field in question is the provider's word for it, whoever stands in front.
func TestReadErrorNamesTheField(t *testing.T) {
	for _, c := range []struct{ name, body, message, param string }{
		{"OpenAI", `{"error":{"message":"Unknown parameter: 'seed'.","param":"seed"}}`, "Unknown parameter: 'seed'.", "seed"},
		{"vLLM", `{"detail":[{"loc":["body","tools",0,"strict"],"msg":"Extra inputs are not permitted"}]}`, "tools.0.strict: Extra inputs are not permitted", "tools.0.strict"},
		{"Mistral", `{"object":"error","message":{"detail":[{"loc":["body","user"],"msg":"Extra inputs are not permitted"}]}}`, "user: Extra inputs are not permitted", "user"},
		{"Mistral's list", `{"message":[{"loc":["body","user"],"msg":"Extra inputs are not permitted"}]}`, "user: Extra inputs are not permitted", "user"},
		{"OpenRouter", `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"no seed\",\"param\":\"seed\"}}"}}}`, "Provider returned error: no seed", "seed"},
		{"OpenRouter in words", `{"error":{"message":"Provider returned error","metadata":{"raw":"no seed"}}}`, "Provider returned error: no seed", ""},
		{"other metadata", `{"error":{"message":"m","metadata":["x"]}}`, "m", ""},
	} {
		if e := ReadError(400, []byte(c.body)); e.Message != c.message || e.Param != c.param {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}

func TestErrorExcerptIsShortAndWhole(t *testing.T) {
	e := ReadError(502, []byte("é"+strings.Repeat("ü ", 1000)))
	if len(e.Body) > maxExcerpt+3 || !utf8.ValidString(e.Body) {
		t.Errorf("%d bytes: %q", len(e.Body), e.Body)
	}
}
