package format_test

import (
	"fmt"

	"github.com/unifiedtoolprotocol/utp/format"
)

func ExampleChoose() {
	no := false
	c, err := format.Choose([]format.Layer{
		{Level: format.Agent, From: "[tools]", Calls: "prefer:react"},
		{Level: format.Model, From: "[models.qwen3*]", For: "qwen3*", Tools: "qwen3-coder"},
	}, format.Facts{Provider: "ollama", Model: "qwen3:8b", Native: &no})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("tools %s (%s)\n", c.Tools, c.Tools.Why)
	fmt.Printf("calls %s (%s)\n", c.Calls, c.Calls.Why)
	// Output:
	// tools as text in qwen3-coder ([models.qwen3*]: definition_format = qwen3-coder)
	// calls in the server's own field and in the text, in every dialect, first react, qwen3-coder, hermes ([tools]: call_parser = prefer:react)
}
