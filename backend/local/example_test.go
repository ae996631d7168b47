package local_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/backend/local"
	"github.com/unifiedtoolprotocol/utp/wire"
)

func Example() {
	tools := true
	found := local.Found{Servers: []local.Server{{ // as local.Find(ctx) gives them
		Kind: local.Ollama, URL: "http://127.0.0.1:11434",
		Models: []wire.Model{{ID: "qwen3:8b", Chat: true, Loaded: true, Tools: &tools}},
	}}}
	server, model, why := local.Choose(found)
	fmt.Println(server.Provider(), model)
	fmt.Println(why)
	// Output:
	// ollama qwen3:8b
	// Ollama at http://127.0.0.1:11434 has qwen3:8b in memory, which takes tools
}
