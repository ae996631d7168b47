package backend_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
)

// A server with Ollama's API whose model writes its call into the text.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/chat" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, `{"message":{"content":"Let me look.\n<tool_call>\n{\"name\": \"now\", "},"done":false}
{"message":{"content":"\"arguments\": {}}\n</tool_call>"},"done":false}
{"message":{"content":""},"done":true,"done_reason":"stop"}
`)
	}))
	defer server.Close()

	client, err := backend.New(backend.Config{Provider: backend.Ollama, URL: server.URL, Model: "qwen3"})
	if err != nil {
		panic(err)
	}
	question := utp.Question("What time is it?")
	question.Tools = []utp.Tool{{Name: "now", Description: "The time."}}
	for event, err := range client.Stream(context.Background(), question) {
		switch {
		case err != nil:
			panic(err)
		case event.Kind == utp.EventText:
			fmt.Print(event.Text)
		case event.Kind == utp.EventCallEnd:
			fmt.Println("a call of", event.Call.Name, "in the dialect", event.Call.Dialect())
		}
	}
	// Output:
	// Let me look.
	// a call of now in the dialect hermes
}
