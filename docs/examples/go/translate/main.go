// Command translate asks a server with OpenAI's API what a client of Anthropic's
// asks, and gives the client its answer: go run ./translate http://127.0.0.1:11434
package main

import (
	"bytes"
	"log"
	"net/http"
	"os"

	"github.com/unifiedtoolprotocol/utp/wire/translate"
)

func main() {
	x, err := translate.Pair{From: translate.Anthropic, To: translate.OpenAI}.Request([]byte(
		`{"model":"qwen3","stream":true,"max_tokens":100,"messages":[{"role":"user","content":"Hi"}]}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, loss := range x.Losses {
		log.Println(loss.Path, loss.What, loss.Why)
	}
	resp, err := http.Post(os.Args[1]+x.Path, "application/json", bytes.NewReader(x.Body))
	if err != nil {
		log.Fatal(err)
	}
	if err := x.Stream().Copy(os.Stdout, resp.Body); err != nil {
		log.Fatal(err)
	}
}
