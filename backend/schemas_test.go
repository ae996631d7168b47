package backend_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// What came before is not compiled again, and one tool's schema is never taken for
// that of another one of its name.
func TestSchemasAreCompiledOnce(t *testing.T) {
	args := json.RawMessage(`{"p1": 5}`)
	check := func(compile func([]utp.Tool) *schema.Set, s json.RawMessage) string {
		got, _, issues := compile([]utp.Tool{{Name: "f", Schema: s}}).Check("f", args)
		return fmt.Sprint(string(got), issues)
	}
	var c backend.Schemas
	text := json.RawMessage(`{"properties":{"p1":{"type":"string"},"p2":{"enum":["a","b"]},"p3":{"type":"array","items":{"type":"object"}}}}`)
	number := json.RawMessage(`{"properties":{"p1":{"type":"number"}}}`)
	for range 2 {
		for _, s := range []json.RawMessage{text, number} {
			if got, want := check(c.Compile, s), check(schema.Compile, s); got != want {
				t.Errorf("%s, compiled anew %s", got, want)
			}
		}
	}
	kept, anew := testing.AllocsPerRun(20, func() { check(c.Compile, text) }), testing.AllocsPerRun(20, func() { check(schema.Compile, text) })
	if kept > anew/4 {
		t.Errorf("a schema that was compiled before takes %v allocations, a new one %v", kept, anew)
	}
	for i := range 40 { // 200 KB each: more than is held
		check(c.Compile, json.RawMessage(fmt.Sprintf(`{"description":"%0200000d"}`, i)))
	}
	if got, want := check(c.Compile, text), check(schema.Compile, text); got != want {
		t.Errorf("after many others: %s, compiled anew %s", got, want)
	}
}
