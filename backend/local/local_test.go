package local_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend/local"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/wire"
)

func listen(t *testing.T, h http.Handler) int {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func mock(t *testing.T, settings string) http.Handler {
	t.Helper()
	s, err := fake.Parse("local", []byte("-- server --\n"+settings+"\n-- turn --\n-- text --\nok\n"))
	if err != nil {
		t.Fatal(err)
	}
	return fake.New(s)
}

// free is a port at which nothing listens. One that the system gives out may be
// another test's by now.
const free = 1

func find(t *testing.T, ports ...local.Port) []local.Server {
	t.Helper()
	return local.Finder{Ports: ports, Limit: 5 * time.Second}.Find(context.Background()).Servers
}

func TestFindsEachKind(t *testing.T) {
	for _, kind := range []local.Kind{local.Ollama, local.LMStudio, local.LlamaCPP, local.VLLM} {
		settings := "kind: " + string(kind) + "\nmodel: qwen3:8b, other\ncontext: 4096"
		if kind == local.Ollama {
			settings += "\nloaded: qwen3:8b"
		}
		port := listen(t, mock(t, settings))
		servers := find(t, local.Port{Kind: local.Ollama, Number: free}, local.Port{Kind: kind, Number: port})
		if len(servers) != 1 || servers[0].Kind != kind || servers[0].URL != "http://127.0.0.1:"+strconv.Itoa(port) {
			t.Fatalf("%s: %+v", kind, servers)
		}
		s, model, why := local.Choose(local.Found{Servers: servers})
		if model != "qwen3:8b" || s.Kind != kind || !strings.Contains(why, "qwen3:8b") || !strings.Contains(why, kind.String()) {
			t.Errorf("%s: chose %q: %s", kind, model, why)
		}
		if m := s.Models[0]; !m.Loaded || m.Context != 4096 || kind != local.VLLM && (m.Tools == nil || !*m.Tools) {
			t.Errorf("%s: %+v", kind, m)
		}
		if want := map[bool]string{true: "ollama", false: "openai"}[kind == local.Ollama]; s.Provider() != want {
			t.Errorf("%s: provider %s", kind, s.Provider())
		}
	}
}

func TestPassesOverOtherPrograms(t *testing.T) {
	web := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	json := listen(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":[]}`)) }))
	away := listen(t, http.RedirectHandler("http://192.0.2.1/", http.StatusFound))
	for _, port := range []int{web, json, away, free} {
		for _, kind := range []local.Kind{local.Ollama, local.LMStudio, local.LlamaCPP, local.VLLM} {
			if s := find(t, local.Port{Kind: kind, Number: port}); len(s) != 0 {
				t.Errorf("%s: %+v", kind, s)
			}
		}
	}
}

// TestASilentServerIsNamed: who took the connection and said nothing is waited
// for, and named when the time is over; the others count.
func TestASilentServerIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	silent := local.Port{Kind: local.Ollama, Number: l.Addr().(*net.TCPAddr).Port}
	var waiting []string
	finder := local.Finder{Limit: time.Second, Moment: 200 * time.Millisecond, Waiting: func(s string) { waiting = append(waiting, s) },
		Ports: []local.Port{silent, {Kind: local.LMStudio, Number: free}, {Kind: local.VLLM, Number: listen(t, mock(t, "kind: vllm"))}}}
	found := finder.Find(context.Background())
	name := "Ollama at http://127.0.0.1:" + strconv.Itoa(silent.Number)
	if len(found.Servers) != 1 || found.Servers[0].Kind != local.VLLM || len(found.Silent) != 1 || found.Silent[0].String() != name+" did not answer within 1s" {
		t.Errorf("%+v", found)
	}
	if !slices.Contains(waiting, name) {
		t.Errorf("waiting for %q, want %q among them", waiting, name)
	}
	if _, model, why := local.Choose(found); model == "" || !strings.HasSuffix(why, "; "+name+" did not answer within 1s") {
		t.Errorf("chose %q: %s", model, why)
	}
	found.Servers = nil
	if _, _, why := local.Choose(found); why != name+" did not answer within 1s" {
		t.Error(why)
	}
}

// TestWhereNothingListensIsKnownAtOnce: a refused connection ends the search long
// before the time is over.
func TestWhereNothingListensIsKnownAtOnce(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	found := local.Finder{Ports: []local.Port{{Kind: local.Ollama, Number: free}, {Kind: local.LlamaCPP, Number: free}}, Limit: time.Hour}.Find(ctx)
	if ctx.Err() != nil || len(found.Servers)+len(found.Silent) != 0 {
		t.Errorf("%v, %+v", ctx.Err(), found)
	}
}

// TestASlowServerIsFound: each answer takes 350 ms, and all are there: the loaded
// model, and what it takes.
func TestASlowServerIsFound(t *testing.T) {
	port := listen(t, mock(t, "kind: ollama\nmodel: cold, warm\nloaded: warm\ndelay: 350ms"))
	found := local.Finder{Ports: []local.Port{{Kind: local.Ollama, Number: port}}}.Find(context.Background())
	if _, model, why := local.Choose(found); model != "warm:latest" || !strings.Contains(why, "in memory, which takes tools") {
		t.Errorf("chose %q: %s", model, why)
	}
}

// TestChoosingWithoutWhatIsInMemorySaysSo: /api/ps that hangs is no reason to do
// without the server, but for a word.
func TestChoosingWithoutWhatIsInMemorySaysSo(t *testing.T) {
	port := listen(t, mock(t, "kind: ollama\nmodel: a, b\ndelay: /api/ps 1h"))
	found := local.Finder{Ports: []local.Port{{Kind: local.Ollama, Number: port}}, Limit: 250 * time.Millisecond}.Find(context.Background())
	if _, model, why := local.Choose(found); model != "a:latest" || !strings.Contains(why, "which models are in memory it did not say in time") {
		t.Errorf("chose %q: %s", model, why)
	}
}

// TestAServerThatLoadsIsWaitedFor: llama-server answers 503 to every path while
// it loads its model.
func TestAServerThatLoadsIsWaitedFor(t *testing.T) {
	port := listen(t, mock(t, "kind: llamacpp\nmodel: m\nloading: 3"))
	if servers := find(t, local.Port{Kind: local.LlamaCPP, Number: port}); len(servers) != 1 {
		t.Errorf("%+v", servers)
	}
}

// TestOneOddFieldMakesNoServerUseless: lists are read field by field.
func TestOneOddFieldMakesNoServerUseless(t *testing.T) {
	for _, odd := range []string{`"size":1000000000.0`, `"size":1e9`, `"size":"1 GB"`, `"size":null`, `"details":null`, `"details":"llama"`,
		`"capabilities":{"tools":true}`, `"modified_at":5`, `"digest":[]`} {
		h := mock(t, "kind: ollama\nmodel: m")
		port := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/tags" {
				_, _ = io.WriteString(w, `{"models":[{"name":"m","model":"m",`+odd+`},null,7]}`)
				return
			}
			h.ServeHTTP(w, r)
		}))
		if servers := find(t, local.Port{Kind: local.Ollama, Number: port}); len(servers) != 1 || len(servers[0].Models) != 1 || servers[0].Models[0].ID != "m" {
			t.Errorf("%s: %+v", odd, servers)
		}
	}
}

func TestChoose(t *testing.T) {
	yes, no := true, false
	server := func(k local.Kind, models ...wire.Model) local.Server {
		return local.Server{Kind: k, URL: "http://127.0.0.1:1", Models: models}
	}
	for _, c := range []struct {
		name    string
		servers []local.Server
		want    string
		why     string
	}{
		{"none", nil, "", "no model server answers"},
		{"no model", []local.Server{server(local.Ollama)}, "", "`ollama pull"},
		{"embedding only", []local.Server{server(local.VLLM, wire.Model{ID: "embed"})}, "", "has no chat model"},
		{"cloud only", []local.Server{server(local.Ollama, wire.Model{ID: "big-cloud", Chat: true, Remote: true, Loaded: true})}, "", "has no chat model"},
		{"loaded first", []local.Server{server(local.Ollama, wire.Model{ID: "a", Chat: true, Tools: &yes}), server(local.VLLM, wire.Model{ID: "b", Chat: true, Loaded: true})}, "b", "in memory"},
		{"tools first", []local.Server{server(local.Ollama, wire.Model{ID: "a", Chat: true, Tools: &no}, wire.Model{ID: "b", Chat: true, Tools: &yes})}, "b", "takes tools"},
		{"first of equals", []local.Server{server(local.Ollama, wire.Model{ID: "a", Chat: true}, wire.Model{ID: "b", Chat: true})}, "a", "has a"},
	} {
		if _, model, why := local.Choose(local.Found{Servers: c.servers}); model != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, %s", c.name, model, why)
		}
	}
}

func TestPorts(t *testing.T) {
	for i, want := range []int{11434, 1234, 8080, 8000} {
		if got := local.Ports()[i].Number; got != want {
			t.Errorf("port %d: %d", i, got)
		}
	}
}
