package local_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
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
	return local.Finder{Ports: ports, Limit: 5 * time.Second}.Find(context.Background())
}

func TestFindsEachKind(t *testing.T) {
	for _, kind := range []local.Kind{local.Ollama, local.LMStudio, local.LlamaCPP, local.VLLM} {
		port := listen(t, mock(t, "kind: "+string(kind)+"\nmodel: qwen3:8b, other\ncontext: 4096"))
		servers := find(t, local.Port{Kind: local.Ollama, Number: free}, local.Port{Kind: kind, Number: port})
		if len(servers) != 1 || servers[0].Kind != kind || servers[0].URL != "http://127.0.0.1:"+strconv.Itoa(port) {
			t.Fatalf("%s: %+v", kind, servers)
		}
		s, model, why := local.Choose(servers)
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

func TestASilentPortDoesNotHoldUpTheOthers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	servers := local.Finder{Limit: 250 * time.Millisecond, Ports: []local.Port{
		{Kind: local.Ollama, Number: l.Addr().(*net.TCPAddr).Port},
		{Kind: local.VLLM, Number: listen(t, mock(t, "kind: vllm"))},
	}}.Find(context.Background())
	if len(servers) != 1 || servers[0].Kind != local.VLLM {
		t.Errorf("%+v", servers)
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
		if _, model, why := local.Choose(c.servers); model != c.want || !strings.Contains(why, c.why) {
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
