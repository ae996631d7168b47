// Command agent lets a model call a Go function, in whatever dialect it can:
// go run ./agent http://127.0.0.1:11434
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/backend"
)

func sky(_ context.Context, in struct{ City string }) (string, error) { return in.City + ": rain", nil }

func main() {
	model, err := backend.New(backend.Config{Provider: backend.OpenAI, URL: os.Args[1], Model: "qwen3"})
	if err != nil {
		panic(err)
	}
	config := agent.Config{Model: model, Gate: agent.Functions(agent.Func("sky", "The weather in a city.", sky))}
	answer, err := agent.Ask(context.Background(), config, utp.Question("Do I need a coat in Oslo?"))
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Text)
}
