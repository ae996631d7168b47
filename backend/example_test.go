package backend_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// A model that writes its call into the text, asked over HTTP.
func Example() {
	script, err := fake.Parse("example", []byte("-- turn --\n-- text --\nLet me look.\n<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>\n"))
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(fake.New(script))
	defer server.Close()

	client, err := backend.New(backend.Config{Provider: backend.Ollama, URL: server.URL, Model: "qwen3"})
	if err != nil {
		panic(err)
	}
	request := &utp.Request{
		Messages: []utp.Message{utp.NewText(utp.RoleUser, "What time is it?")},
		Tools:    []utp.Tool{{Name: "now", Description: "The time."}},
	}
	var events []utp.Event
	for e, err := range client.Stream(context.Background(), request) {
		if err != nil {
			panic(err)
		}
		events = append(events, e)
	}
	reply := utp.Collect(events)
	fmt.Printf("%q calls %s, found as %s\n", reply.Text(), reply.Calls()[0].Name, reply.Calls()[0].Source)
	// Output: "Let me look.\n" calls now, found as text:hermes
}
