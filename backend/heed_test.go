package backend_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// stern is a server that refuses what it does not take. refuse gets the body of a
// request and gives the status and the words; 0 is no refusal.
type stern struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]json.RawMessage
}

func newStern(t *testing.T, show string, refuse func(body map[string]json.RawMessage) (int, string)) *stern {
	t.Helper()
	s := &stern{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/api/show" && show != "":
			io.WriteString(w, show)
			return
		case r.Method != http.MethodPost || r.URL.Path == "/api/show":
			http.NotFound(w, r)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		var body map[string]json.RawMessage
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("body: %v", err)
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, body)
		s.mu.Unlock()
		if status, words := refuse(body); status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, words)
			return
		}
		if r.URL.Path == "/api/chat" {
			io.WriteString(w, `{"message":{"role":"assistant","content":"Hello."},"done":true,"done_reason":"stop"}`+"\n")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// heard are the requests so far.
func (s *stern) heard() []map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

// asker is a client of a server with what it was told.
type asker struct {
	*backend.Client
	lost   []wire.Loss
	warned []string
	now    time.Time
}

func asks(t *testing.T, s *stern, c backend.Config) *asker {
	t.Helper()
	a := &asker{now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	c.URL, c.Model, c.Backoff = s.URL, "m", time.Millisecond
	c.Now = func() time.Time { return a.now }
	c.Lost = func(l []wire.Loss) { a.lost = append(a.lost, l...) }
	c.Warn = func(w string) { a.warned = append(a.warned, w) }
	var err error
	if a.Client, err = backend.New(c); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *asker) loss(path string) string {
	for _, l := range a.lost {
		if l.Path == path {
			return l.What
		}
	}
	return ""
}

// ollamaThinks refuses "think" as Ollama does.
// Source: Ollama 0.17.4, server/routes.go, ChatHandler.
func ollamaThinks(thinks, levels bool) func(body map[string]json.RawMessage) (int, string) {
	return func(body map[string]json.RawMessage) (int, string) {
		switch think := string(body["think"]); {
		case think == "", think == "false":
		case !thinks:
			return 400, `{"error":"\"m\" does not support thinking"}`
		case think != "true" && !levels:
			return 400, fmt.Sprintf(`{"error":"think value \"%s\" is not supported for this model"}`, think[1:len(think)-1])
		}
		return 0, ""
	}
}

// What /api/show says of a model decides what "think" is, so that nothing is refused.
func TestOllamaIsAskedForTheThinkingThatItHas(t *testing.T) {
	for name, c := range map[string]struct {
		show           string
		thinks, levels bool
		think, lost    string
	}{
		"thinks":  {`{"capabilities":["completion","thinking"]}`, true, false, "true", "sent as true"},
		"plain":   {`{"capabilities":["completion"]}`, false, false, "", "dropped"},
		"harmony": {`{"capabilities":["completion","thinking"],"parser":"harmony"}`, true, true, `"high"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStern(t, c.show, ollamaThinks(c.thinks, c.levels))
			a := asks(t, s, backend.Config{Provider: backend.Ollama})
			r := question()
			r.Params.Effort = "high"
			if got := mustReply(t, a.Client, r); got.Text() != "Hello." {
				t.Errorf("%+v", got)
			}
			if heard := s.heard(); len(heard) != 1 || string(heard[0]["think"]) != c.think {
				t.Errorf("asked %d times, think %s", len(heard), heard[0]["think"])
			}
			if a.loss("params.effort") != c.lost {
				t.Errorf("losses %v, want %q", a.lost, c.lost)
			}
		})
	}
}

// refusalsOfTheWorld are errors of servers about one field, as their users report
// them, and the field in the body.
var refusalsOfTheWorld = []struct {
	server, field string
	status        int
	body          string
}{
	{"OpenAI", "reasoning_effort", 400, `{"error":{"message":"Unsupported parameter: 'reasoning_effort' is not supported with this model.","type":"invalid_request_error","param":"reasoning_effort","code":"unsupported_parameter"}}`},
	{"OpenAI, older models", "reasoning_effort", 400, `{"error":{"message":"Unrecognized request argument supplied: reasoning_effort","type":"invalid_request_error","param":null,"code":null}}`},
	{"OpenAI with tools", "reasoning_effort", 400, `{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses instead.","type":"invalid_request_error","param":"reasoning_effort"}}`},
	{"a gateway", "reasoning_effort", 400, `{"error":{"message":"Unsupported parameter: reasoning_effort (request id: 1)","type":"invalid_request_error","param":"","code":null}}`},
	{"OpenRouter", "stop", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Unsupported parameter: 'stop' is not supported with this model.\",\"param\":\"stop\",\"code\":\"unsupported_parameter\"}}","provider_name":"OpenAI"}}}`},
	{"OpenAI", "stop", 400, `{"error":{"message":"Unsupported parameter: 'stop' is not supported with this model.","type":"invalid_request_error","param":"stop","code":"unsupported_parameter"}}`},
	{"Azure", "parallel_tool_calls", 400, `{"error":{"message":"Unrecognized request argument supplied: parallel_tool_calls","type":"invalid_request_error","param":null,"code":null}}`},
	{"Azure", "stream_options", 400, `{"error":{"message":"Unknown parameter: 'stream_options'.","type":"invalid_request_error","param":"stream_options","code":"unknown_parameter"}}`},
	{"OpenAI", "temperature", 400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.1 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`},
	{"OpenAI", "user", 400, `{"error":{"message":"Invalid 'user': string too long. Expected a string with maximum length 16, but got a string with length 20 instead.","type":"invalid_request_error","param":"user","code":"string_above_max_length"}}`},
	{"Mistral", "service_tier", 422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","service_tier"],"msg":"Extra inputs are not permitted","input":"auto"}]},"type":"invalid_request_error","code":null}`},
	{"Mistral", "user", 422, `{"detail":[{"type":"extra_forbidden","loc":["body","user"],"msg":"Extra inputs are not permitted","input":"ann"}]}`},
	{"Groq", "store", 400, `{"error":{"message":"property 'store' is unsupported, did you mean 'stop'?","type":"invalid_request_error"}}`},
	{"Groq", "logprobs", 400, "{\"error\":{\"message\":\"`logprobs` is not supported with this model\",\"type\":\"invalid_request_error\"}}"},
	{"Groq", "verbosity", 400, `{"error":{"message":"property 'verbosity' is unsupported","type":"invalid_request_error"}}`},
	{"xAI", "presence_penalty", 400, `{"code":"Client specified an invalid argument","error":"Argument not supported on this model: presencePenalty"}`},
	{"xAI, newer", "presence_penalty", 400, `{"code":"Client specified an invalid argument","error":"Model grok-4.6 does not support parameter presencePenalty."}`},
	{"Gemini's surface for OpenAI's clients", "seed", 400, `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"seed\": Cannot find field.","status":"INVALID_ARGUMENT"}}]`},
	{"Gemini through OpenRouter", "presence_penalty", 400, `{"error":{"message":"Penalty is not enabled for this model","code":400}}`},
	{"vLLM", "logit_bias", 400, `{"object":"error","message":"logit_bias is not supported with this model","type":"BadRequestError","param":null,"code":400}`},
	{"llama.cpp", "logprobs", 500, `{"error":{"code":500,"message":"logprobs is not supported with tools + stream","type":"server_error"}}`},
	{"LM Studio", "metadata", 400, `{"error":"Unrecognized key: 'metadata' is not allowed"}`},
	{"OpenAI", "service_tier", 400, `{"error":{"message":"Invalid service_tier argument: 'flex' is not available for this model","type":"invalid_request_error","param":"service_tier"}}`},
}

// full is a request with everything that servers are known to refuse.
func full() *utp.Request {
	r := question(query("f", "q"))
	seed, half, no := int64(7), 0.5, false
	r.Params = utp.Params{Effort: "high", User: "ann", Seed: &seed, Stop: []string{"END"}, Temperature: &half}
	r.Choice.Parallel = &no
	r.Extra = json.RawMessage(`{"openai":{"service_tier":"auto","logprobs":true,"top_logprobs":2,"store":true,"verbosity":"low","metadata":{"a":"b"},
		"presence_penalty":0.5,"frequency_penalty":0.5,"logit_bias":{"1":2}}}`)
	return r
}

// A refusal that names a field is heeded once: the request goes again without it,
// which is told, and remembered for ten minutes; all else stays.
func TestARefusalThatNamesAFieldIsHeeded(t *testing.T) {
	for _, c := range refusalsOfTheWorld {
		t.Run(c.server+" "+c.field, func(t *testing.T) {
			s := newStern(t, "", func(body map[string]json.RawMessage) (int, string) {
				if body[c.field] != nil {
					return c.status, c.body
				}
				return 0, ""
			})
			a := asks(t, s, backend.Config{Provider: backend.OpenAI})
			if _, err := reply(a.Client, full()); err != nil {
				t.Fatal(err)
			}
			heard := s.heard()
			if len(heard) != 2 || heard[0][c.field] == nil || heard[1][c.field] != nil {
				t.Fatalf("asked %d times", len(heard))
			}
			if a.loss(c.field) != "dropped" || len(a.warned) == 0 {
				t.Errorf("losses %v, warnings %q", a.lost, a.warned)
			}
			for _, must := range []string{"model", "messages", "tools"} {
				if heard[1][must] == nil {
					t.Errorf("%s is gone too", must)
				}
			}
			if n := len(heard[0]) - len(heard[1]); n > 2 { // of two that go together
				t.Errorf("%d fields are gone", n)
			}
			a.lost = nil
			mustReply(t, a.Client, full())
			if n := len(s.heard()); n != 3 || a.loss(c.field) != "dropped" {
				t.Errorf("remembered: asked %d times, losses %v", n, a.lost)
			}
			a.now = a.now.Add(10 * time.Minute)
			mustReply(t, a.Client, full())
			if n := len(s.heard()); n != 5 {
				t.Errorf("after ten minutes: asked %d times", n)
			}
		})
	}
}

// Nothing is left out for an error that is not about a field that may go.
func TestOtherErrorsAreNotHeeded(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"a schema":         {400, `{"error":{"message":"'response_format' of type 'json_schema' is not supported with this model","param":"response_format"}}`},
		"a choice":         {400, `{"error":{"message":"Unsupported value: 'tool_choice' does not support 'required' with this model.","param":"tool_choice"}}`},
		"tools":            {400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128","param":"tools"}}`},
		"a bad value":      {400, `{"error":{"message":"Invalid 'stop': array too long. Expected an array with maximum length 4","param":"stop"}}`},
		"an overflow":      {400, `{"error":{"message":"This model's maximum context length is 8192 tokens; 'user' messages are not supported beyond","code":"context_length_exceeded"}}`},
		"a word":           {400, `{"error":{"message":"the user asked for something that is not supported; think again and stop"}}`},
		"busy":             {429, `{"error":{"message":"'seed' is not supported at the moment"}}`},
		"key":              {401, `{"error":{"message":"'seed' is not supported"}}`},
		"too many to give": {400, `{"error":{"message":"max_tokens is too large: 50000. This model supports at most 16384 completion tokens","param":"max_tokens"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStern(t, "", func(map[string]json.RawMessage) (int, string) { return c.status, c.body })
			a := asks(t, s, backend.Config{Provider: backend.OpenAI, Retries: -1})
			r, most := full(), 50000
			r.Params.MaxTokens = &most
			if _, err := reply(a.Client, r); err == nil {
				t.Error("no error")
			}
			if n := len(s.heard()); n != 1 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// A server that refuses whatever it is sent is not asked for ever, and the same
// part is never taken out twice.
func TestHeedingIsBounded(t *testing.T) {
	names := []string{"seed", "stop", "user", "store", "metadata", "logit_bias", "temperature", "service_tier", "verbosity"}
	s := newStern(t, "", func(body map[string]json.RawMessage) (int, string) {
		for _, n := range names {
			if body[n] != nil {
				return 400, fmt.Sprintf(`{"error":{"message":"Unknown parameter: '%s'.","param":"%s"}}`, n, n)
			}
		}
		return 0, ""
	})
	a := asks(t, s, backend.Config{Provider: backend.OpenAI})
	if _, err := reply(a.Client, full()); err == nil {
		t.Error("no error")
	}
	if n := len(s.heard()); n != 7 {
		t.Errorf("asked %d times", n)
	}
	mustReply(t, a.Client, full()) // what is known by now is left out at once
	if n := len(s.heard()); n != 7+4 {
		t.Errorf("asked %d times", n)
	}
	deaf := newStern(t, "", func(map[string]json.RawMessage) (int, string) {
		return 400, `{"error":{"message":"Unknown parameter: 'seed'.","param":"seed"}}`
	})
	b := asks(t, deaf, backend.Config{Provider: backend.OpenAI})
	if _, err := reply(b.Client, full()); err == nil {
		t.Error("no error")
	}
	if n := len(deaf.heard()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// Of an effort the nearest that the server names is sent.
func TestTheNearestEffortIsAskedFor(t *testing.T) {
	for _, c := range []struct{ effort, body, want, loss string }{
		{"xhigh", `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.","param":"reasoning_effort","code":"unsupported_value"}}`, `"high"`, "sent as high"},
		{"minimal", `{"error":{"message":"Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low', 'medium', and 'high'.","param":"***.effort","code":"unsupported_value"}}`, `"low"`, "sent as low"},
		{"xhigh", "{\"detail\":\"Invalid request: Validation error for `reasoning_effort`: expected one of `'low' | 'medium' | 'high'`, received `'xhigh'`.\"}", `"high"`, "sent as high"},
		{"high", "{\"error\":{\"message\":\"`reasoning_effort` must be one of `none` or `default`\"}}", ``, "dropped"},
		{"max", `{"error":{"message":"level \"max\" not supported, valid levels: low, medium, high, xhigh"}}`, `"xhigh"`, "sent as xhigh"},
		{"high", `{"error":{"message":"Reasoning effort 'high' is not supported by this model route. Supported values: 'medium'. (param: reasoning_effort)"}}`, `"medium"`, "sent as medium"},
	} {
		s := newStern(t, "", func(body map[string]json.RawMessage) (int, string) {
			if string(body["reasoning_effort"]) == `"`+c.effort+`"` {
				return 400, c.body
			}
			return 0, ""
		})
		a := asks(t, s, backend.Config{Provider: backend.OpenAI})
		r := question()
		r.Params.Effort = c.effort
		mustReply(t, a.Client, r)
		if heard := s.heard(); len(heard) != 2 || string(heard[1]["reasoning_effort"]) != c.want || a.loss("reasoning_effort") != c.loss {
			t.Errorf("%s: %d requests, the last with %s; losses %v", c.body, len(heard), heard[len(heard)-1]["reasoning_effort"], a.lost)
		}
		r.Params.Effort = "low" // which another server may take: as it is, or the nearest
		mustReply(t, a.Client, r)
	}
}

// An Ollama that says nothing of its model is believed when it refuses.
func TestOllamasRefusalOfThinkingIsHeeded(t *testing.T) {
	for name, c := range map[string]struct {
		model          string
		thinks, levels bool
		think          string
	}{
		"a level":       {"gpt-oss-like", true, false, "true"},
		"no thinking":   {"m", false, false, ""},
		"what it takes": {"gpt-oss", true, true, `"high"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStern(t, "", ollamaThinks(c.thinks, c.levels))
			a := asks(t, s, backend.Config{Provider: backend.Ollama})
			r := question()
			r.Model, r.Params.Effort = c.model, "high"
			for range 2 {
				mustReply(t, a.Client, r)
			}
			heard := s.heard()
			if last := heard[len(heard)-1]; string(last["think"]) != c.think || len(heard) > 3 {
				t.Errorf("asked %d times, think %s", len(heard), last["think"])
			}
		})
	}
}

// max_tokens goes under its newer name where the older is refused.
func TestMaxTokensGoUnderTheNameThatIsTaken(t *testing.T) {
	s := newStern(t, "", func(body map[string]json.RawMessage) (int, string) {
		if body["max_tokens"] != nil {
			return 400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`
		}
		return 0, ""
	})
	a := asks(t, s, backend.Config{Provider: backend.OpenAI})
	r, most := question(), 100
	r.Params.MaxTokens = &most
	mustReply(t, a.Client, r)
	if heard := s.heard(); len(heard) != 2 || string(heard[1]["max_completion_tokens"]) != "100" {
		t.Errorf("%v", heard)
	}
}

// A strict schema that OpenAI does not take is sent as one that is not strict.
func TestAStrictSchemaThatIsRefusedIsNotStrict(t *testing.T) {
	s := newStern(t, "", func(body map[string]json.RawMessage) (int, string) {
		if strings.Contains(string(body["tools"]), `"strict":true`) {
			return 400, `{"error":{"message":"Invalid schema for function 'f': In context=(), 'additionalProperties' is required to be supplied and to be false.","param":"tools[0].parameters","code":"invalid_function_parameters"}}`
		}
		return 0, ""
	})
	a := asks(t, s, backend.Config{Provider: backend.OpenAI})
	tool, yes := query("f", "q"), true
	tool.Strict = &yes
	mustReply(t, a.Client, question(tool))
	if heard := s.heard(); len(heard) != 2 || !strings.Contains(string(heard[1]["tools"]), `"strict":false`) || a.loss("tools[].function.strict") != "turned off" {
		t.Errorf("%d requests, losses %v", len(heard), a.lost)
	}
}

// What a server will never do is not asked for again, whatever its status.
func TestAPermanentFailureIsNotRetried(t *testing.T) {
	s := newStern(t, "", func(map[string]json.RawMessage) (int, string) {
		return 500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`
	})
	a := asks(t, s, backend.Config{Provider: backend.OpenAI, Retries: 5})
	if _, err := reply(a.Client, question()); err == nil {
		t.Error("no error")
	}
	if n := len(s.heard()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
