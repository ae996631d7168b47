package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// model is a server with Ollama's API and a model that says "Hello."
func model() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, `{"message":{"content":"Hello."},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":2}`)
	}))
}

// ask sends a question of Anthropic's API and returns the answer.
func ask(url string) string {
	resp, err := http.Post(url+"/v1/messages", "application/json",
		strings.NewReader(`{"model":"llama","max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	return string(body)
}

// A client of Anthropic's API talks to a model of an Ollama.
func Example() {
	ollama := model()
	defer ollama.Close()

	client, err := backend.New(backend.Config{Provider: backend.Ollama, URL: ollama.URL})
	if err != nil {
		panic(err)
	}
	g, err := gateway.New(gateway.Config{
		Routes: []gateway.Route{{To: []gateway.Target{{Backend: client}}}},
		NewID:  func() string { return "1" },
	})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(g)
	defer server.Close()
	fmt.Println(ask(server.URL))
	// Output:
	// {"id":"msg_1","type":"message","role":"assistant","model":"llama","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}
}

// A gateway below a path of one's own server.
func ExampleOver() {
	ollama := model()
	defer ollama.Close()
	client, err := backend.New(backend.Config{Provider: backend.Ollama, URL: ollama.URL})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/models/", http.StripPrefix("/models", gateway.Over(client)))
	server := httptest.NewServer(mux)
	defer server.Close()
	answer := ask(server.URL + "/models")
	fmt.Println(answer[strings.Index(answer, `"content"`):strings.Index(answer, `,"usage"`)])
	// Output: "content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn","stop_sequence":null
}
