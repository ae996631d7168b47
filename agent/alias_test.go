package agent_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// An invented name runs the tool it means, with the defaults of the alias,
// whatever the form of the call.
//
// contract: W-03 W-04 CON-31
func TestAnInventedNameRunsItsTool(t *testing.T) {
	known := schema.CompileWith([]utp.Tool{
		{Name: "model", Schema: json.RawMessage(`{"type":"object","properties":{"action":{"enum":["list","current"]},"name":{"type":"string"}},"required":["action"],"additionalProperties":false}`)},
		{Name: "history", Schema: json.RawMessage(`{"type":"object","properties":{"action":{"type":"string"},"n_messages":{"type":"integer"}},"required":["action"],"additionalProperties":false}`)},
	}, schema.Options{Aliases: schema.Assistant()})
	for name, answer := range map[string]string{
		"native":      "-- call available_models --\n{}\n-- call fetch_history --\n{\"limit\": \"5\"}\n",
		"hermes":      "-- text --\n<tool_call>\n{\"name\": \"available_models\", \"arguments\": {}}\n</tool_call>\n<tool_call>\n{\"name\": \"fetch_history\", \"arguments\": {\"limit\": \"5\"}}\n</tool_call>\n",
		"react":       "-- text --\nAction: available_models\nAction Input: {}\nAction: fetch_history\nAction Input: {\"limit\": 5}\n",
		"fence":       "-- text --\n```json\n[{\"name\": \"available_models\", \"arguments\": {}}, {\"name\": \"fetch_history\", \"arguments\": {\"limit\": 5}}]\n```\n",
		"bare":        "-- text --\n{\"name\": \"available_models\", \"arguments\": {}}\n{\"name\": \"fetch_history\", \"arguments\": {\"limit\": 5}}\n",
		"python":      "-- text --\n[available_models(), fetch_history(limit=5)]\n",
		"qwen3-coder": "-- text --\n<tool_call>\n<function=available_models>\n</function>\n</tool_call>\n<tool_call>\n<function=fetch_history>\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>\n",
	} {
		s, err := fake.Parse(name, []byte("-- turn --\n"+answer+"-- turn --\n-- text --\nDone.\n"))
		if err != nil {
			t.Fatal(err)
		}
		h := httptest.NewServer(fake.New(s))
		defer h.Close()
		client, err := backend.New(backend.Config{Provider: backend.Ollama, URL: h.URL, Model: "m", Parse: parse.Config{Tools: known}})
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{}
		a, err := agent.Ask(t.Context(), agent.Config{Model: client, Gate: &agent.Gate{Tools: known, Runner: b}}, ask("?"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range a.Calls {
			var args any
			if err := json.Unmarshal(d.Call.Args, &args); err != nil {
				t.Fatal(err)
			}
			got = append(got, d.Call.Name+" "+toJSON(args))
		}
		if toJSON(got) != toJSON([]string{"model " + toJSON(map[string]any{"action": "list"}), "history " + toJSON(map[string]any{"action": "recent", "n_messages": 5})}) {
			t.Errorf("%s: %v", name, got)
		}
		for i, c := range a.Messages[0].Calls() { // what the model reads of its calls is what ran
			if toJSON(c.Args) != toJSON(a.Calls[i].Call.Args) {
				t.Errorf("%s: %s is told as %s", name, a.Calls[i].Call.Args, c.Args)
			}
		}
	}
}
