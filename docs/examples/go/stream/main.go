// Command stream shows an answer while it comes, and the calls in it, whether they
// stand in the server's own field or in the text: go run ./stream http://127.0.0.1:11434
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
)

func main() {
	client, err := backend.New(backend.Config{Provider: backend.OpenAI, URL: os.Args[1], Model: "qwen3"})
	if err != nil {
		log.Fatal(err)
	}
	question := utp.Question("What is the weather in Oslo?")
	question.Tools = []utp.Tool{{Name: "weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"}}}`)}}
	for event, err := range client.Stream(context.Background(), question) {
		switch {
		case err != nil:
			log.Fatal(err)
		case event.Kind == utp.EventText:
			fmt.Print(event.Text)
		case event.Kind == utp.EventCallEnd: // complete: only now may it run
			fmt.Println(event.Call.Name, string(event.Call.Args))
		}
	}
}
