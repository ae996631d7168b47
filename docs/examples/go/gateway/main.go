// Command gateway serves a model behind the APIs of OpenAI, Anthropic, Gemini and
// Ollama, below a path of a server of its own:
// go run ./gateway http://127.0.0.1:11434 127.0.0.1:8080
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

func main() {
	model, err := backend.New(backend.Config{Provider: backend.OpenAI, URL: os.Args[1]})
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/models/", http.StripPrefix("/models", gateway.Over(model)))
	log.Fatal(http.ListenAndServe(os.Args[2], nil))
}
