package format_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

func TestAdapters(t *testing.T) {
	for model, want := range map[string]string{
		"TheBloke/MythoMax-L2-13B-GGUF": "pygmalion", "pygmalion-2:7b": "pygmalion", "lewd-sniffer": "pygmalion",
		"gemma2:9b": "gemma", "bartowski/gemma-2-9b-it-GGUF": "gemma", "gemma3:4b": "",
		"TheBloke/Mistral-7B-Instruct-v0.2-GGUF": "mistral-instruct", "mistral:7b": "", "dolphin-mistral": "", "qwen3:8b": "",
	} {
		if got := format.AdapterFor(model).Name; got != want {
			t.Errorf("%s: %q, want %q", model, got, want)
		}
	}
	if _, err := format.AdapterByName("piggy"); err == nil || !strings.Contains(err.Error(), "pygmalion") {
		t.Errorf("%v", err)
	}
	seen := map[string]bool{}
	for _, a := range format.Adapters() {
		for _, name := range append(a.Aliases, a.Name) {
			if name == "" || seen[name] {
				t.Errorf("the name %q", name)
			}
			seen[name] = true
		}
		for _, text := range append(append(a.Stops, a.Ends...), a.Noise...) {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s: the mark %q", a.Name, text)
			}
		}
		for _, f := range a.Drop {
			if f.Open == "" || f.Close == "" || f == (grammar.Fence{}) {
				t.Errorf("%s: the block %+v", a.Name, f)
			}
		}
	}
}
