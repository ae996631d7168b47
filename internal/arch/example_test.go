package arch_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/internal/arch"
)

func Example() {
	h, err := arch.Parse("example.com/m", map[string]string{
		"agent/agent.go": "package agent\n\nimport _ \"example.com/m/cmd/bx\"\n",
		"cmd/bx/main.go": "package main\n",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, law := range arch.Laws() {
		if law.Name == "rings" {
			fmt.Println(law.Check(h))
		}
	}
	// Output: [agent: (ring 4) imports cmd/bx (ring 5)]
}
