package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// A client of Anthropic's API talks to a model behind Ollama.
func Example() {
	model, err := fake.Parse("hello", []byte("-- turn --\n-- text --\nHello."))
	if err != nil {
		panic(err)
	}
	ollama := httptest.NewServer(fake.New(model))
	defer ollama.Close()

	client, err := backend.New(backend.Config{Provider: "ollama", URL: ollama.URL})
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

	resp, err := http.Post(server.URL+"/v1/messages", "application/json",
		strings.NewReader(`{"model":"llama","max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(body))
	// Output:
	// {"id":"msg_1","type":"message","role":"assistant","model":"llama","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":40,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":20}}
}
