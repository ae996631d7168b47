package openai_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/openai"
)

func ptr[T any](v T) *T { return &v }

func full() *utp.Request {
	return &utp.Request{
		Model: "m", Stream: true,
		Messages: []utp.Message{
			{Role: utp.RoleAssistant, Parts: []utp.Part{utp.Call{ID: "call_1", Name: "f"}}},
			{Role: utp.RoleTool, Parts: []utp.Part{utp.TextResult(utp.Call{ID: "call_1", Name: "f"}, utp.StatusOK, "x")}},
		},
		Tools:  []utp.Tool{{Name: "f"}, {Name: "g"}},
		Choice: utp.Choice{Mode: utp.ChoiceRequired, Allowed: []string{"f"}},
		Params: utp.Params{MaxTokens: ptr(9), TopK: ptr(5), Seed: ptr(int64(7)), Stop: []string{"1", "2", "3", "4", "5"}, Schema: []byte("{}"), User: "u"},
		Extra:  []byte(`{"a":1}`),
	}
}

func TestServersGetTheFieldsTheyKnow(t *testing.T) {
	for _, c := range []struct {
		server   openai.Server
		has, not []string
	}{
		{openai.Any, []string{`"max_tokens":9`, `"top_k":5`, `"seed":7`, `"5"]`, `"tool_choice":"required"`, `"include_usage":true`, `"id":"call_1"`, `{"type":"json_object"}`},
			[]string{"max_completion", "allowed_tools", `"name":"g"`, "extra"}},
		{openai.OpenAI, []string{`"max_completion_tokens":9`, `"stop":["1","2","3","4"]`, `"allowed_tools":{"mode":"required"`, `"name":"g"`},
			[]string{`"max_tokens"`, "top_k"}},
		{openai.Mistral, []string{`"max_tokens":9`, `"random_seed":7`}, []string{`"seed"`, "stream_options", "top_k", `"id":"call_1"`, `"user":"u"`}},
	} {
		x, err := openai.Back{Server: c.server}.Open(full())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.has {
			if !strings.Contains(string(x.Body), s) {
				t.Errorf("server %d: %s is missing in %s", c.server, s, x.Body)
			}
		}
		for _, s := range c.not {
			if strings.Contains(string(x.Body), s) {
				t.Errorf("server %d: %s is in %s", c.server, s, x.Body)
			}
		}
		if len(x.Losses) == 0 {
			t.Errorf("server %d: no loss was reported", c.server)
		}
	}
}

func TestChoice(t *testing.T) {
	for _, c := range []struct {
		choice utp.Choice
		want   string
	}{
		{utp.Choice{}, ""},
		{utp.Choice{Mode: utp.ChoiceNone}, `"tool_choice":"none"`},
		{utp.Choice{Mode: utp.ChoiceRequired}, `"tool_choice":"required"`},
		{utp.Choice{Mode: utp.ChoiceNamed, Name: "f"}, `"tool_choice":{"type":"function","function":{"name":"f"}}`},
	} {
		x, err := openai.Back{}.Open(&utp.Request{Tools: []utp.Tool{{Name: "f"}}, Choice: c.choice})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(x.Body), "tool_choice"); got != (c.want != "") || !strings.Contains(string(x.Body), c.want) {
			t.Errorf("%+v: %s", c.choice, x.Body)
		}
		x, err = openai.Back{}.Open(&utp.Request{Choice: c.choice})
		if err != nil || strings.Contains(string(x.Body), "tool_choice") {
			t.Errorf("%+v without tools: %s (%v)", c.choice, x.Body, err)
		}
	}
}

func TestReasoningGoesBackWhereItCameFrom(t *testing.T) {
	x, err := openai.Back{}.Open(&utp.Request{Tools: []utp.Tool{{Name: "f"}}})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := x.Read([]byte(`{"choices":[{"message":{"reasoning":"Hm.","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err = openai.Back{}.Open(&utp.Request{Messages: []utp.Message{reply.Message}})
	if err != nil || !strings.Contains(string(x.Body), `"reasoning":"Hm."`) {
		t.Errorf("%s (%v)", x.Body, err)
	}
}

func TestAnErrorBodyIsAnError(t *testing.T) {
	x, err := openai.Back{}.Open(&utp.Request{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Read([]byte(`{"error":{"message":"boom"}}`), nil); err == nil || err.Error() != "boom" {
		t.Errorf("%v", err)
	}
	if _, err := x.Read([]byte(`{}`), nil); err == nil {
		t.Error("an empty object passed for a reply")
	}
}

func TestModels(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       string
		context    int
		loaded     bool
		tools      *bool
	}{
		{"vLLM", `{"object":"list","data":[{"id":"Qwen/Qwen3-8B","created":1787306400,"owned_by":"vllm","max_model_len":32768}]}`, "Qwen/Qwen3-8B", 32768, true, nil},
		{"LM Studio", `{"data":[{"id":"qwen3-8b","type":"llm","state":"loaded","max_context_length":131072,"loaded_context_length":4096,"capabilities":["tool_use"]}]}`, "qwen3-8b", 4096, true, ptr(true)},
		{"LM Studio, not loaded", `{"data":[{"id":"gemma","type":"vlm","state":"not-loaded","max_context_length":8192}]}`, "gemma", 8192, false, ptr(false)},
		{"OpenAI", `{"data":[{"id":"gpt-5","owned_by":"openai"}]}`, "gpt-5", 0, false, nil},
		{"llama.cpp", `{"models":[{"name":"m"}],"data":[{"id":"m","meta":{"n_ctx":8192,"n_ctx_train":4096}}]}`, "m", 8192, true, nil},
		{"llama.cpp, not loaded", `{"data":[{"id":"m","meta":null,"status":{"value":"unloaded"}}]}`, "m", 0, false, nil},
		{"odd fields", `{"data":[{"id":"m","created":"today","owned_by":null,"status":"ok","meta":null,"capabilities":{},"max_model_len":1e4},null,7,{"id":null}]}`, "m", 10000, true, nil},
	} {
		ms, err := openai.Models([]byte(c.body))
		if err != nil || len(ms) != 1 {
			t.Fatalf("%s: %v %v", c.name, ms, err)
		}
		m := ms[0]
		same := (m.Tools == nil) == (c.tools == nil) && (m.Tools == nil || *m.Tools == *c.tools)
		if m.ID != c.want || m.Context != c.context || m.Loaded != c.loaded || !same || !m.Chat {
			t.Errorf("%s: %+v", c.name, m)
		}
	}
	if _, err := openai.Models([]byte("<html>")); err == nil {
		t.Error("HTML passed for a list of models")
	}
}

func TestReadProps(t *testing.T) {
	p, err := openai.ReadProps([]byte(`{"default_generation_settings":{"n_ctx":65536},"build_info":"b8681","chat_template_caps":{"supports_tools":true}}`))
	if err != nil || p.Context != 65536 || p.Tools == nil || !*p.Tools || p.Build != "b8681" {
		t.Errorf("%+v %v", p, err)
	}
	if _, err := openai.ReadProps([]byte(`{"version":"0.12"}`)); err == nil {
		t.Error("another server's answer passed for llama.cpp's")
	}
}
