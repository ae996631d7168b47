package parse_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// TestJSONInASentence: where the dialect of JSON was named, a call within a line is
// one, in the order of the text, and the words around it stay; else it is text, and
// so is what is no call of an offered tool, or stands in code.
//
// contract: P-29 P-30
func TestJSONInASentence(t *testing.T) {
	tools := schema.Compile([]utp.Tool{
		{Name: "get_weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)},
		{Name: "now"},
	})
	const both = "First {\"tool\":\"get_weather\",\"arguments\":{\"city\":\"Oslo\"}} and then\nagain {\"name\":\"now\",\"arguments\":{}} please."
	for _, c := range []struct{ prefer, text, want string }{
		{"default-json", both, "get_weather {\"city\":\"Oslo\"}\nnow {}\n"},
		{"json-bare", both, "get_weather {\"city\":\"Oslo\"}\nnow {}\n"},
		{"json-bare", `See: {"name": "now", "parameters": {}}; {"name": "get_weather", "parameters": {"city": "Oslo"}} Well?`, "now {}\nget_weather {\"city\":\"Oslo\"}\n"},
		{"", both, ""},
		{"hermes", both, ""},
		{"default-json", `It returns {"city":"Oslo"}, or {"name":"rain"} now.`, ""},
		{"default-json", "Write `{\"name\":\"now\",\"arguments\":{}}` there.", ""},
	} {
		cfg := parse.Config{Tools: tools}
		if c.prefer != "" {
			cfg.Prefer = []string{c.prefer}
		}
		whole := feed(cfg, c.text, false)
		if got := calls(whole); got != c.want {
			t.Errorf("%s, %q:\n%swant\n%s", c.prefer, c.text, got, c.want)
		}
		laws(t, cfg, c.text, false, whole)
	}
}
