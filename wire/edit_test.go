package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/unifiedtoolprotocol/utp/wire"
)

func TestEdit(t *testing.T) {
	const body = `{"model":"m","seed":7,"tools":[{"function":{"name":"f","strict":true}},{"function":{"name":"g"}}],"output_config":{"effort":"high"},"messages":[{"content":"text"},{"content":[{"text":"a","cache_control":{}}]}]}`
	for path, want := range map[string]string{
		"seed":                               `{"model":"m","tools":[{"function":{"name":"f","strict":true}},{"function":{"name":"g"}}],"output_config":{"effort":"high"},"messages":[{"content":"text"},{"content":[{"text":"a","cache_control":{}}]}]}`,
		"tools[].function.strict":            `{"model":"m","seed":7,"tools":[{"function":{"name":"f"}},{"function":{"name":"g"}}],"output_config":{"effort":"high"},"messages":[{"content":"text"},{"content":[{"text":"a","cache_control":{}}]}]}`,
		"output_config.effort":               `{"model":"m","seed":7,"tools":[{"function":{"name":"f","strict":true}},{"function":{"name":"g"}}],"messages":[{"content":"text"},{"content":[{"text":"a","cache_control":{}}]}]}`,
		"messages[].content[].cache_control": `{"model":"m","seed":7,"tools":[{"function":{"name":"f","strict":true}},{"function":{"name":"g"}}],"output_config":{"effort":"high"},"messages":[{"content":"text"},{"content":[{"text":"a"}]}]}`,
		"stop":                               body, "model.name": body, "seed[].a": body, "tools[].x.y": body,
	} {
		x := wire.Exchange{Body: []byte(body)}
		changed := x.Edit(path, func(json.RawMessage) json.RawMessage { return nil })
		if string(x.Body) != want || changed != (want != body) {
			t.Errorf("%s: %v\n%s", path, changed, x.Body)
		}
	}
	x := wire.Exchange{Body: []byte(body)}
	if x.Edit("seed", func(v json.RawMessage) json.RawMessage { return v }) {
		t.Error("nothing was changed")
	}
	if x.Put("n", json.RawMessage("1")); !json.Valid(x.Body) || string(x.Body[len(x.Body)-7:]) != `,"n":1}` {
		t.Errorf("%s", x.Body)
	}
}
