package parse_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// TestLineBehindABrokenCallIsTried: where a line begins as a call and breaks, the
// line on which that shows is a line like any other, however the text is cut.
func TestLineBehindABrokenCallIsTried(t *testing.T) {
	cfg := parse.Config{Tools: schema.Compile([]utp.Tool{{Name: "f",
		Schema: []byte(`{"type":"object","properties":{"x":{"type":"integer"},"loc":{"type":"string"},"op":{"type":"string"}}}`)}})}
	for in, want := range map[string]string{
		"f(x\n\nf(x=1)":                "f {\"x\":1}\n",
		"f(loc='a', op##=22)\nf(x=22)": "f {\"x\":22}\n",
		"[f(b\n f(x=1),\n f(x=2)]":     "f {\"x\":1}\nf {\"x\":2}\n",
	} {
		whole := feed(cfg, in, false)
		if got := calls(whole); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
		laws(t, cfg, in, false, whole)
	}
}
