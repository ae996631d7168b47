package gateway_test

import (
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// TestGolden shows what a client of each API gets, byte for byte, of what a model
// writes as text (the section "model"), whole and streamed.
//
// contract: Z-01 Z-05 Z-08 Z-14
func TestGolden(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		text := strings.TrimSuffix(c.Get("model"), "\n")
		m := newModel(apis[0], func(int, *utp.Request) []utp.Event { return says(text) })
		url := start(t, m, backend.Config{Provider: "openai"}, func(c *gateway.Config) {
			c.Now = func() time.Time { return time.Unix(1e9, 0).UTC() }
			c.Limits.Retries = -1
		})
		for _, a := range apis {
			for _, stream := range []bool{false, true} {
				section := a.name + ".whole"
				if stream {
					section = a.name + ".stream"
				}
				resp, body := a.post(t, url, offer(stream))
				c.Want(t, section, resp.Status+"\n"+strings.TrimRight(body, "\n")+"\n")
			}
		}
	})
}
