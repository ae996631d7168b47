package gateway_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

const script = `One text call.
-- turn --
-- text --
Let me look.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Paris"}}
</tool_call>
`

func serve(t *testing.T, script, provider string) string {
	t.Helper()
	s, err := fake.Parse("t", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	up := httptest.NewServer(fake.New(s))
	t.Cleanup(up.Close)
	c, err := backend.New(backend.Config{Provider: provider, URL: up.URL})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Backend: c}}}}, NewID: func() string { return "id_1" }})
	if err != nil {
		t.Fatal(err)
	}
	down := httptest.NewServer(g)
	t.Cleanup(down.Close)
	return down.URL
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status + "\n" + string(bytes.TrimSpace(b))
}

func TestTextCallsBecomeCalls(t *testing.T) {
	tests := []struct{ provider, path, body, want string }{
		{"ollama", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]}`, `"arguments":"{\"city\":\"Paris\"}"`},
		{"openai", "/v1/messages", `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"get_weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}]}`, `"input":{"city":"Paris"}`},
		{"ollama", "/v1/responses", `{"model":"m","input":"hi","tools":[{"type":"function","name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]}`, `"type":"function_call"`},
		{"openai", "/v1beta/models/m:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"get_weather","parameters":{"type":"OBJECT","properties":{"city":{"type":"STRING"}}}}]}]}`, `"functionCall":{`},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			got := post(t, serve(t, script, tt.provider)+tt.path, tt.body)
			if !strings.HasPrefix(got, "200 ") || !strings.Contains(got, tt.want) || strings.Contains(got, "<tool_call>") {
				t.Errorf("got %s\nwant %s and no markup", got, tt.want)
			}
		})
	}
}
