package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// A gateway that leads to itself says so, and does not ask itself for ever.
func TestServeThatLeadsToItself(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	c, err := backend.New(backend.Config{Provider: "openai", URL: "http://" + server.Listener.Addr().String(), Retries: -1, HTTP: signed(backend.HTTP(false, 0), "me")})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Backend: c}}}}, NewID: newReplyID})
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 100 {
			unlooped(g, "me").ServeHTTP(w, r)
		}
	})
	server.Start()
	defer server.Close()
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"m","messages":[{"role":"user","content":"Hi."}]}`,
		"/v1/embeddings":       `{"model":"m","input":"Hi."}`,
		"/v1/models":           "",
	} {
		resp, err := server.Client().Post(server.URL+path, "application/json", strings.NewReader(body))
		if body == "" {
			resp, err = server.Client().Get(server.URL + path)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode < 500 || !strings.Contains(string(text), "bx serve itself") {
			t.Errorf("%s: HTTP %d: %s, %v", path, resp.StatusCode, text, err)
		}
	}
	if n := asked.Load(); n > 20 {
		t.Errorf("it asked itself %d times", n)
	}
}
