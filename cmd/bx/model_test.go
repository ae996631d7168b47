package main

import (
	"runtime/debug"
	"testing"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/backend/local"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/view"
)

// A name of a model that is not there is answered with the nearest one that is.
func TestNearModel(t *testing.T) {
	known := []string{"qwen3-coder:30b", "native:7b", "library/llama3.2:latest", "gpt-oss:20b"}
	for name, want := range map[string]string{
		"nativ": "native:7b", "native:8b": "native:7b", "natvie": "native:7b", "llama3.2": "library/llama3.2:latest", "llama3.3": "library/llama3.2:latest",
		"qwen3": "qwen3-coder:30b", "gpt-os": "gpt-oss:20b", "mistral": "", "x": "", "": "",
	} {
		if got := nearModel(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// Of several servers on this machine the one that has the model is asked; one that
// nobody has is asked for at the first, which says so.
func TestTheServerThatHasTheModel(t *testing.T) {
	with := func(kind local.Kind, names ...string) local.Server {
		s := local.Server{Kind: kind}
		for _, n := range names {
			s.Models = append(s.Models, backend.Model{ID: n})
		}
		return s
	}
	servers := []local.Server{with(local.Ollama, "qwen3:8b", "llama3.2:latest"), with(local.LlamaCPP, "tiny-coder"), with(local.VLLM, "tiny-coder", "org/big")}
	for name, want := range map[string]local.Kind{
		"qwen3:8b": local.Ollama, "llama3.2": local.Ollama, "tiny-coder": local.LlamaCPP, "org/big": local.VLLM, "gone": local.Ollama,
	} {
		if got := having(servers, name); got.Kind != want {
			t.Errorf("%s: %s, want %s", name, got.Kind, want)
		}
	}
}

// A search alone has its garbage collected sooner, unless the user's GOGC says how
// often; a gateway lives longer and keeps what Go does.
func TestCollectorOfASearchAlone(t *testing.T) {
	const before = 137
	for name, tt := range map[string]struct {
		gogc   string
		serves bool
		want   int
	}{
		"nothing said": {"", false, 50},
		"GOGC":         {"200", false, before},
		"GOGC off":     {"off", false, before},
		"a gateway":    {"", true, before},
	} {
		own := debug.SetGCPercent(before)
		env := func(name string) string { return map[string]string{"GOGC": tt.gogc}[name] }
		j := &job{app: &app{env: env}, view: &view.Printer{}, serves: tt.serves}
		j.searchAlone("a test")
		if got := debug.SetGCPercent(own); got != tt.want {
			t.Errorf("%s: the heap may grow by %d %%, want %d", name, got, tt.want)
		}
	}
}
