package gateway_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/record"
)

// What is asked and answered is given away by a route that says so alone, with the
// credentials taken out, and the reply as the model wrote it.
func TestContent(t *testing.T) {
	const call = `<tool_call>{"name": "get_weather", "arguments": {"city": "sk-ant-REDACTED"}}</tool_call>`
	m := newModel(apiNamed("ollama"), func(int, *utp.Request) []utp.Event { return says(call) })
	for _, stream := range []bool{false, true} {
		for _, on := range []bool{false, true} {
			got, reports := []record.Content{}, make(chan gateway.Report, 1)
			url := start(t, m, backend.Config{Provider: "ollama"}, func(c *gateway.Config) {
				c.Content = func(r record.Content) { got = append(got, r) }
				c.Observe = func(r gateway.Report) { reports <- r }
				c.Routes[0].Content = on
			})
			apiNamed("anthropic").post(t, url, offer(stream))
			r := <-reports
			if !on {
				if len(got) > 0 {
					t.Errorf("stream %v: kept without a word: %+v", stream, got)
				}
				continue
			}
			if len(got) != 1 || got[0].ID != r.ID || !strings.Contains(got[0].Request, "get_weather") || !strings.Contains(got[0].Raw, "<tool_call>") || strings.Contains(got[0].Raw, "abcdefghijklmnop") {
				t.Errorf("stream %v: %+v", stream, got)
			}
		}
	}
}
