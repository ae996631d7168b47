package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// A client's broken request is an error that says where, in the API's own shape.
func TestFrontsSayWhatIsWrong(t *testing.T) {
	for _, p := range apis {
		for name, body := range map[string]string{
			"nothing": "", "no object": `[1]`, "cut": `{"model":"m","messages":[{"role":"us`, "a number": `{"model":5}`, "NaN": `{"temperature":NaN}`,
			"not UTF-8": "{\"model\":\"\xff\"}", "junk": `{} {}`, "deep": `{"x":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
			"role":  `{"model":"m","messages":[{"role":"robot","content":""}],"input":[{"role":"robot","content":""}],"contents":[{"role":"robot","parts":[]}]}`,
			"twice": `{"model":"m","messages":[],"input":[],"contents":[],"tools":[` + twice[p.name] + `]}`,
		} {
			_, _, err := p.front.Read(wire.HTTPRequest{Path: "/v1beta/models/m:generateContent", Body: []byte(body)})
			in, ok := err.(*wire.InputError)
			if !ok {
				t.Errorf("%s: %s: %v", p.name, name, err)
				continue
			}
			status, reply := p.front.Error(err)
			if status != 400 || !json.Valid(reply) || !strings.Contains(string(reply), "want ") {
				t.Errorf("%s: %s: %d %s", p.name, name, status, reply)
			}
			if name == "role" && (in.Path == "" || in.Offset <= 0) {
				t.Errorf("%s: %s: %v", p.name, name, err)
			}
		}
	}
}

var twice = map[string]string{
	"anthropic": `{"name":"f","input_schema":{"type":"object"}},{"name":"f","input_schema":{"type":"object"}}`,
	"responses": `{"type":"function","name":"f"},{"type":"function","name":"f"}`,
	"openai":    `{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}`,
	"ollama":    `{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}`,
	"gemini":    `{"functionDeclarations":[{"name":"f"},{"name":"f"}]}`,
}
