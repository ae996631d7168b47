package ollama_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
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
		{utp.Choice{Mode: utp.None}, `"messages":[]`, "tools"},
		{utp.Choice{Mode: utp.Named, Name: "g"}, "Answer with a call of the tool g.", `"name":"f"`},
		{utp.Choice{Mode: utp.Required}, "Answer with a call of one of the tools.", "tool_choice"},
		{utp.Choice{Allowed: []string{"f"}}, `"name":"f"`, `"name":"g"`},
	} {
		r.Choice = c.choice
		if got := body(t, &r); !strings.Contains(got, c.has) || strings.Contains(got, c.not) {
			t.Errorf("%+v: %s", c.choice, got)
		}
	}
}

func TestThink(t *testing.T) {
	for effort, want := range map[string]string{"none": `"think":false`, "minimal": `"think":"low"`, "high": `"think":"high"`, "xhigh": `"think":"max"`} {
		if got := body(t, &utp.Request{Params: utp.Params{Effort: effort}}); !strings.Contains(got, want) {
			t.Errorf("%s: %s", effort, got)
		}
	}
	if got := body(t, &utp.Request{}); strings.Contains(got, "think") {
		t.Errorf("nothing asked for: %s", got)
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
