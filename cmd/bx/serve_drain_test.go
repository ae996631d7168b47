package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

const (
	firstChunk = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"First."},"finish_reason":null}]}` + "\n\n"
	lastChunk  = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":" Last."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

// slow is a model that says one word and waits.
func slow(t *testing.T, goOn <-chan bool) *httptest.Server {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, firstChunk)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-goOn:
			_, _ = io.WriteString(w, lastChunk)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(up.Close)
	return up
}

const streamed = `{"model":"m","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"Hi."}]}`

// Requests that run when the end comes are answered, for as long as the grace
// lasts; then they end in their API's error. In the meantime the gateway listens,
// and says that it is not ready.
func TestServeDrains(t *testing.T) {
	for _, tt := range []struct {
		name  string
		grace time.Duration
		want  string // at the end of the reply
	}{{"in time", time.Minute, " Last."}, {"too late", 50 * time.Millisecond, `event: error`}} {
		t.Run(tt.name, func(t *testing.T) {
			goOn := make(chan bool)
			up := slow(t, goOn)
			c, err := backend.New(backend.Config{Provider: "openai", URL: up.URL, Retries: -1})
			if err != nil {
				t.Fatal(err)
			}
			g, err := gateway.New(gateway.Config{NewID: newReplyID, Routes: []gateway.Route{{To: []gateway.Target{{Backend: c}}}}})
			if err != nil {
				t.Fatal(err)
			}
			l, err := place{address: "127.0.0.1:0"}.open()
			if err != nil {
				t.Fatal(err)
			}
			url := "http://" + l.Addr().String()
			base, stop := context.WithCancelCause(t.Context())
			said := make(chan string, 1)
			h := &hall{gateway: g, stop: stop, grace: func() time.Duration { return tt.grace }, notify: func(context.Context, string) {},
				say: func(format string, _ ...any) { said <- format }}
			h.add(&http.Server{Handler: g, BaseContext: func(net.Listener) context.Context { return base }}, l)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			done := make(chan error, 1)
			go func() { defer h.close(); done <- h.serve(ctx) }()
			resp, err := http.Post(url+"/v1/messages", "application/json", strings.NewReader(streamed))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			end()
			if words := <-said; !strings.Contains(words, "Ctrl-C again ends at once") {
				t.Errorf("it says %q", words)
			}
			if tt.grace == time.Minute {
				ready, err := http.Get(url + "/readyz")
				if err != nil || ready.StatusCode != http.StatusServiceUnavailable {
					t.Fatalf("readyz while draining: %v, %v", ready, err)
				}
				ready.Body.Close()
				close(goOn)
			}
			text, err := io.ReadAll(resp.Body)
			if err != nil || !strings.Contains(string(text), "First.") || !strings.Contains(string(text), tt.want) {
				t.Errorf("%q, %v", text, err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
				t.Error("it still listens")
			}
		})
	}
}

// A second Ctrl-C ends bx serve at once.
func TestSecondInterruptEndsServe(t *testing.T) {
	u := newUser(t)
	up := slow(t, nil)
	file := filepath.Join(u.home, "serve.toml")
	if err := os.WriteFile(file, []byte("listen = \"unix:"+file+".sock\"\n[limits]\ndrain = \"10m\"\n[backends.up]\nprovider = \"openai\"\nurl = \""+up.URL+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(u.bx, "serve", "--file", file)
	cmd.Dir, cmd.Env = u.repo, environment(u.home)
	says := &running{}
	cmd.Stderr = says
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	wait := func(words string) {
		t.Helper()
		for range 1000 {
			if strings.Contains(says.text(), words) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("it does not say %q: %s", words, says.text())
	}
	wait("serving at unix:")
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", file+".sock")
	}}}
	resp, err := client.Post("http://any.name/v1/messages", "application/json", strings.NewReader(streamed))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, words := range []string{"Ctrl-C again ends at once", ""} {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		wait(words)
	}
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	select {
	case <-over:
	case <-time.After(time.Minute): // the drain lasts ten
		t.Error("it goes on")
	}
	if text, err := io.ReadAll(resp.Body); err == nil && bytes.Contains(text, []byte("message_stop")) {
		t.Errorf("a good end: %s", text)
	}
}
