package ollama_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
	"github.com/unifiedtoolprotocol/utp/wire/ollama"
)

func body(t *testing.T, r *utp.Request) string {
	t.Helper()
	x, err := ollama.Back{}.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(x.Body)
}

func TestChoice(t *testing.T) {
	r := utp.Request{Tools: []utp.Tool{{Name: "f"}, {Name: "g"}}}
	for _, c := range []struct {
		choice   utp.Choice
		has, not string
	}{
		{utp.Choice{Mode: utp.ChoiceNone}, `"messages":[]`, "tools"},
		{utp.Choice{Mode: utp.ChoiceNamed, Name: "g"}, "Answer with a call of the tool g.", `"name":"f"`},
		{utp.Choice{Mode: utp.ChoiceRequired}, "Answer with a call of one of the tools.", "tool_choice"},
		{utp.Choice{Allowed: []string{"f"}}, `"name":"f"`, `"name":"g"`},
	} {
		r.Choice = c.choice
		if got := body(t, &r); !strings.Contains(got, c.has) || strings.Contains(got, c.not) {
			t.Errorf("%+v: %s", c.choice, got)
		}
	}
}

// What a server refuses is not asked for: a level goes to gpt-oss alone, true to
// what thinks, and what is left out or changed is told.
func TestEffortIsWhatTheModelTakes(t *testing.T) {
	show := func(body string) *ollama.Details {
		d, err := ollama.Show("m", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return &d
	}
	thinking, plain := show(`{"capabilities":["completion","thinking"]}`), show(`{"capabilities":["completion"]}`)
	harmony := show(`{"capabilities":["completion","thinking"],"details":{"family":"gptoss"},"template":"<|start|>x<|end|>"}`)
	parser := show(`{"capabilities":["completion","thinking"],"parser":"harmony"}`)
	other := show(`{"capabilities":["completion","thinking"],"details":{"family":"gptoss"},"template":"{{ .Prompt }}"}`)
	for _, c := range []struct {
		model        *ollama.Details
		name, effort string
		think, lost  string
	}{
		{thinking, "m", "none", "false", ""},
		{thinking, "m", "low", "true", "sent as true"},
		{thinking, "m", "medium", "true", ""},
		{thinking, "m", "xhigh", "true", "sent as true"},
		{thinking, "m", "lots", "true", "sent as true"},
		{plain, "m", "none", "false", ""},
		{plain, "m", "medium", "", "dropped"},
		{plain, "gpt-oss:20b", "high", "", "dropped"},
		{harmony, "m", "minimal", `"low"`, "sent as low"},
		{harmony, "m", "high", `"high"`, ""},
		{harmony, "m", "xhigh", `"high"`, "sent as high"},
		{harmony, "m", "lots", `"medium"`, "sent as medium"},
		{parser, "m", "high", `"high"`, ""},
		{other, "m", "high", "true", "sent as true"},
		{nil, "m", "high", "true", "sent as true"},
		{nil, "gpt-oss:20b", "high", `"high"`, ""},
		{nil, "m", "", "", ""},
	} {
		x, err := ollama.Back{Model: c.model}.Open(&utp.Request{Model: c.name, Params: utp.Params{Effort: c.effort}})
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Think json.RawMessage }
		if err := json.Unmarshal(x.Body, &got); err != nil {
			t.Fatal(err)
		}
		lost := ""
		for _, l := range x.Losses {
			if l.Path == "params.effort" {
				lost = l.What
			}
		}
		if string(got.Think) != c.think || lost != c.lost {
			t.Errorf("%s %q: think %s, lost %q; want %s, %q", c.name, c.effort, got.Think, lost, c.think, c.lost)
		}
	}
}

// What a client of Ollama's says is not changed as long as the model takes it.
func TestThinkIsPassedOnAsItWasSaid(t *testing.T) {
	for model, said := range map[string]string{"m": "true", "gpt-oss:20b": "true", "gpt-oss:120b": `"high"`, "n": "false"} {
		r, _, err := ollama.Front{}.Read(wire.HTTPRequest{Path: "/api/chat", Body: []byte(`{"model":"` + model + `","messages":[],"think":` + said + `}`)})
		if err != nil {
			t.Fatal(err)
		}
		if got := body(t, r); !strings.Contains(got, `"think":`+said) {
			t.Errorf("%s: %s", model, got)
		}
	}
}

func TestTags(t *testing.T) {
	ms, err := ollama.Tags([]byte(`{"models":[{"name":"qwen3:8b","model":"qwen3:8b","details":{"family":"qwen3"}},
		{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},
		{"name":"llama3:8b","capabilities":["completion"],"context_length":8192}]}`), true)
	if err != nil || len(ms) != 3 {
		t.Fatalf("%v %v", ms, err)
	}
	if m := ms[0]; m.ID != "qwen3:8b" || !m.Chat || !m.Loaded || m.Tools != nil {
		t.Errorf("%+v", m)
	}
	if ms[1].Chat {
		t.Error("an embedding model passes for a chat model")
	}
	if m := ms[2]; m.Tools == nil || *m.Tools || m.Context != 8192 {
		t.Errorf("%+v", m)
	}
}

func TestShowOfAnOldServer(t *testing.T) {
	for template, want := range map[string]bool{"{{ if .Tools }}x{{ end }}": true, "{{ .Prompt }}": false} {
		d, err := ollama.Show("m", []byte(`{"template":"`+template+`"}`))
		if err != nil || d.Tools == nil || *d.Tools != want {
			t.Errorf("%s: %+v %v", template, d, err)
		}
	}
	if d, err := ollama.Show("m", []byte(`{}`)); err != nil || d.Tools != nil {
		t.Errorf("nothing said: %+v %v", d, err)
	}
}

func TestVersion(t *testing.T) {
	if v, err := ollama.Version([]byte(`{"version":"0.12.0"}`)); err != nil || v != "0.12.0" {
		t.Error(v, err)
	}
	if _, err := ollama.Version([]byte(`{"build_info":"b1"}`)); err == nil {
		t.Error("another server's answer passed for Ollama's")
	}
}
