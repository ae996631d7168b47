package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// Types by the names of programs become those of JSON Schema, in every place of
// a schema and nowhere else; other schemas stay byte for byte.
//
// contract: F-15
func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","properties":{"s":{"type":"string"},"i":{"type":"integer"},"f":{"type":"float"},"b":{"type":"boolean"},"l":{"type":"list[string]"}},"required":["s"]}`: `{"type":"object","properties":{"s":{"type":"string"},"i":{"type":"integer"},"f":{"type":"number"},"b":{"type":"boolean"},"l":{"type":"array","items":{"type":"string"}}},"required":["s"]}`,
		`{"type":"dict","properties":{"z":{"type":"List[List[float]]"},"a":{"type":"list","items":{"type":"int"}}}}`:                                                             `{"type":"object","properties":{"z":{"type":"array","items":{"type":"array","items":{"type":"number"}}},"a":{"type":"array","items":{"type":"integer"}}}}`,
		`{"type":"object","properties":{"type":{"type":"str","enum":["float","int"],"default":"float"}}}`:                                                                        `{"type":"object","properties":{"type":{"type":"string","enum":["float","int"],"default":"float"}}}`,
		`{"anyOf":[{"type":"float"},{"type":"null"}],"$defs":{"x":{"type":"bool"}},"default":{"type":"float"}}`:                                                                  `{"anyOf":[{"type":"number"},{"type":"null"}],"$defs":{"x":{"type":"boolean"}},"default":{"type":"float"}}`,
		`{ "type": "object", "properties": {"a": {"type": ["string", "null"]}} }`:                                                                                                `{ "type": "object", "properties": {"a": {"type": ["string", "null"]}} }`,
		`{"type":"object","properties":{"a":{"type":"walrus"}}}`:                                                                                                                 `{"type":"object","properties":{"a":{"type":"walrus"}}}`,
		`{"type":`: `{"type":`,
		``:         ``,
		`"float"`:  `"float"`,
	} {
		if got := string(schema.Plain(json.RawMessage(in))); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", in, got, want)
		}
	}
	odd := utp.Tool{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"l":{"type":"list[int]"}},"required":["l"]}`)}
	odd.Schema = schema.Plain(odd.Schema)
	if args, _, issues := schema.Compile([]utp.Tool{odd}).Check("f", json.RawMessage(`{"l":["5"]}`)); len(issues) > 0 || string(args) != `{"l":[5]}` {
		t.Errorf("%s %v", args, issues)
	}
}
