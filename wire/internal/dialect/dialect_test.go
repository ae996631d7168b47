package dialect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/internal/golden"
)

// A case of testdata is a schema, what each dialect makes of it, what is
// reported, and arguments with what comes back of them.
func TestSchemaDialects(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		for _, d := range []struct {
			name    string
			dialect Dialect
		}{{"root-object", RootObject}, {"strict", Strict}, {"openapi", OpenAPI}, {"inlined", Inlined}} {
			var losses []string
			lose := func(path, what, why string) { losses = append(losses, path+": "+what+": "+why) }
			out, back, ok := d.dialect.Convert(json.RawMessage(c.Get("schema")), "p", lose)
			var b strings.Builder
			fmt.Fprintf(&b, "%s\n", indented(t, out))
			if !ok {
				b.WriteString("cannot be said\n")
			}
			for _, l := range losses {
				fmt.Fprintln(&b, l)
			}
			for line := range strings.Lines(c.Get("arguments")) {
				fmt.Fprintf(&b, "%s\n", back.Apply(json.RawMessage(strings.TrimSpace(line))))
			}
			c.Want(t, d.name, b.String())
		}
	})
}

func indented(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if !json.Valid(raw) {
		t.Fatalf("not JSON: %s", raw)
	}
	b, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
