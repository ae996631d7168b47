package prompting_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/prompting"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/reading"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

// known is what bx knows, with dialects beside the built-in ones.
func known(own []*grammar.Grammar) prompting.Known {
	return prompting.Known{Tools: reading.ParseTools,
		Dialect: func(name, model string) (*grammar.Grammar, error) { return reading.Written(name, model, own...) }}
}

func Example() {
	answer, err := known(nil).Render([]byte(`{"op":"render","grammar":"mistral","tools":[],
		"messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]}]}`))
	b, _ := json.Marshal(answer)
	fmt.Println(string(b), err)
	// Output:
	// {"grammar":"mistral","messages":[{"role":"assistant","content":"[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {\"x\": 1}}]"}]} <nil>
}

const weather = `[{"name":"weather","description":"Tells it.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`

// ask answers a line.
func ask(t *testing.T, own []*grammar.Grammar, line string) (map[string]any, error) {
	t.Helper()
	answer, err := known(own).Render([]byte(line))
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out, nil
}

// Tools are told in every dialect as package prompt tells them.
func TestRender(t *testing.T) {
	tool := utp.Tool{Name: "weather", Description: "Tells it.", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}
	for _, g := range grammar.All() {
		got, err := ask(t, nil, `{"grammar":"`+g.Name+`","tools":`+weather+`}`)
		if want := prompt.Tools(g, []utp.Tool{tool}); err != nil || got["text"] != want || got["grammar"] != g.Name || !strings.Contains(want, "weather") {
			t.Errorf("%s: %v %v\nwant %s", g.Name, got, err, want)
		}
	}
}

// The dialect is the one named, the user's own before a built-in one, else that of
// the model, else Hermes'.
func TestRenderWhich(t *testing.T) {
	own := []*grammar.Grammar{{Name: "mistral", Body: grammar.JSON, Call: grammar.Fence{Open: "<my>", Close: "</my>"}}}
	for line, want := range map[string]string{
		`{"grammar":"hermes"}`:                       "<tool_call>",
		`{"grammar":"mistral"}`:                      "<my>",
		`{"model":"llama3.1:8b"}`:                    `"parameters": {"city"`,
		`{"model":"a-model-of-nobody"}`:              "<tool_call>",
		`{"model":"llama3.1:8b","grammar":"hermes"}`: "<tool_call>",
	} {
		got, err := ask(t, own, line[:len(line)-1]+`,"tools":`+weather+`}`)
		if text, _ := got["text"].(string); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v %v, want %q", line, got, err, want)
		}
	}
}

// A conversation with calls and results becomes one that a model without tools
// can read, the choice of a tool included.
func TestRenderMessages(t *testing.T) {
	got, err := ask(t, nil, `{"model":"qwen2.5-7b","tool_choice":{"type":"function","function":{"name":"weather"}},"tools":`+weather+`,"messages":[
		{"role":"system","content":"Be brief."},{"role":"user","content":"Oslo?"},
		{"role":"assistant","content":"I look.","tool_calls":[{"id":"a","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},
		{"role":"tool","tool_call_id":"a","content":"rain"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(got["messages"])
	text := strings.ReplaceAll(string(b), `\u003c`, "<")
	text = strings.ReplaceAll(text, `\u003e`, ">")
	for _, want := range []string{`Be brief.\n# Tools`, "Tells it.", `you must call the tool`,
		`I look.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>`, `<tool_response>\nrain\n</tool_response>`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
	if strings.Contains(text, `"tool"`) || strings.Contains(text, "tool_calls") {
		t.Errorf("native parts are left in %s", text)
	}
}

// Each mistake is named with what was wanted.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"grammar":"q"}`, `grammar: no grammar is called "q"`},
		{`{"grammar":"./a.json"}`, "a line names a grammar, no file"},
		{`{"grammar":"auto"}`, "want the name of the one dialect to write in"},
		{`{"tools":[{}]}`, "tools[0]: the name is missing"},
		{`{"messages":[{"role":"king"}]}`, "messages[0]"},
		{`{"messages":[],"tool_choice":{"type":"function","function":{"name":"f"}}}`, `tool_choice: want the name of a tool that is offered, not f`},
		{`{"grammar":1}`, "grammar"},
	} {
		if got, err := ask(t, nil, c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v %v, want %q", c.line, got, err, c.want)
		}
	}
}
