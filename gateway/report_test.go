package gateway_test

import (
	"slices"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// A report says in which dialects the calls were found, who answered, and which
// trace of the client's the request belongs to.
// contract: UAT-N1
func TestReport(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	calls := `<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>` + "\n\n" +
		"<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>"
	m := &model{api: apiNamed("ollama"), say: func(int, *utp.Request) []utp.Event { return says(calls) }}
	for _, stream := range []bool{false, true} {
		var r gateway.Report
		url := start(t, m, backend.Config{Provider: "ollama"}, func(c *gateway.Config) { c.Observe = func(got gateway.Report) { r = got } })
		apiNamed("anthropic").post(t, url, offer(stream), "Traceparent", parent)
		if slices.Sort(r.Dialects); r.FromText != 2 || !slices.Equal(r.Dialects, []string{"hermes", "qwen3-coder"}) {
			t.Errorf("stream %v: %d calls, dialects %q", stream, r.FromText, r.Dialects)
		}
		if r.API != "anthropic" || r.Speaks != "ollama" || r.Asked != "m" || r.Answered != "m" || r.Parent != parent {
			t.Errorf("stream %v: %+v", stream, r)
		}
	}
}
