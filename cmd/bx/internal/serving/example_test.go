package serving_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/serving"
)

func Example() {
	f, err := serving.Parse("serve.toml", []byte(`
[backends.local]
provider = "ollama"
url = "http://127.0.0.1:11434"

[[routes]]
match = ["claude-*"]
to = ["local/qwen3:8b"]
`), nil, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Routes[0].Match, f.Routes[0].To)

	_, err = serving.Parse("serve.toml", []byte("listne = \":4141\"\n"), nil, nil)
	fmt.Println(err)
	// Output:
	// [claude-*] [local/qwen3:8b]
	// serve.toml:1:1: unknown key "listne"
}
