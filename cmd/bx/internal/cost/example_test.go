package cost_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/cost"
)

func ExampleMeasure() {
	now := utp.Tool{Name: "now", Description: "The time.", Schema: []byte(`{"type":"object","properties":{}}`)}
	rows, err := cost.Measure([]utp.Tool{now}, cost.O200k(), false)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rows[:6] {
		fmt.Println(r.Form, r.Native, r.Tools, r.Call)
	}
	// Output:
	// gemini true 19 54
	// anthropic true 25 49
	// ollama true 30 55
	// openai true 30 52
	// pythonic false 91 13
	// llama3 false 104 27
}
