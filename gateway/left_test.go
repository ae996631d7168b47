package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// open counts what a leak would leave behind.
func open(t *testing.T) (goroutines, files int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("descriptors cannot be counted here")
	}
	return runtime.NumGoroutine(), len(fds)
}

// leavesNothing runs a test and counts what is left when its servers are closed.
func leavesNothing(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	goroutines, files := open(t)
	t.Run(name, test)
	settle(t, goroutines, files)
}

// settle waits until no more is open than was before.
func settle(t *testing.T, goroutines, files int) {
	t.Helper()
	var g, f int
	for range 500 {
		http.DefaultClient.CloseIdleConnections()
		if g, f = open(t); g <= goroutines && f <= files {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	all := make([]byte, 1<<16)
	t.Errorf("%d goroutines and %d descriptors are left, want %d and %d at most\n%s", g, f, goroutines, files, all[:runtime.Stack(all, true)])
}

// TestClientsThatLeave goes away in the middle of a stream, and while a whole
// reply or the first byte is waited for: the model's server is told, and nothing
// is left over.
func TestClientsThatLeave(t *testing.T) {
	for _, tt := range []struct {
		name string
		ask  bool // for a stream
		says http.HandlerFunc
	}{
		{"in a stream", true, stream(chunkText)},
		{"in a call", true, stream(chunkText, chunkCall)},
		{"before the first byte", true, stream()},
		{"before a whole reply", false, stream()},
	} {
		leavesNothing(t, tt.name, func(t *testing.T) {
			here, left := make(chan bool, 1), make(chan bool, 1)
			up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet { // what is the model?
					http.NotFound(w, r)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body) // only then is a server told of a client that leaves
				tt.says(w, r)
				here <- true
				<-r.Context().Done()
				left <- true
			})
			over := make(chan gateway.Report, 1)
			url := start(t, up, backend.Config{Provider: "openai", Formats: natively}, func(c *gateway.Config) {
				c.Observe = func(r gateway.Report) { over <- r }
			})
			for range 5 {
				for _, a := range apis {
					leave(t, a, url, tt.ask, here)
					<-left
					if r := <-over; r.Status != gateway.StatusGone || r.Reason != "client_gone" || len(r.Calls) > 0 {
						t.Errorf("%s: %+v", a.name, r)
					}
				}
			}
		})
	}
}

// leave asks and goes away once the model's server has begun to answer.
func leave(t *testing.T, a api, url string, stream bool, here <-chan bool) {
	t.Helper()
	x, err := a.back.Open(offer(stream))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+x.Path, bytes.NewReader(x.Body))
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-here; cancel() }()
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if err == nil {
		t.Errorf("%s: the reply came to an end", a.name)
	}
}

// TestSlowClients has clients that send half a request or do not take their
// reply: they are dropped, and nothing waits for them.
func TestSlowClients(t *testing.T) {
	long := newModel(apis[0], func(int, *utp.Request) []utp.Event {
		return []utp.Event{{Kind: utp.EventText, Text: strings.Repeat("A long answer. ", 2<<20)}, {Kind: utp.EventFinish, Part: 1, End: &utp.End{Stop: utp.StopEnd}}}
	})
	up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/embeddings" {
			_, _ = w.Write(make([]byte, 32<<20))
			return
		}
		long.ServeHTTP(w, r)
	})
	const ask = `{"model":"m","messages":[{"role":"user","content":"Hi."}],"stream":`
	for _, tt := range []struct{ name, path, body string }{
		{"a stream", "/v1/chat/completions", ask + `true}`},
		{"a whole reply", "/v1/chat/completions", ask + `false}`},
		{"a reply that passes through", "/v1/embeddings", `{"model":"m"}`},
		{"half a request", "/v1/chat/completions", ""},
		{"half a request to nothing", "/nothing", ""},
	} {
		leavesNothing(t, tt.name, func(t *testing.T) {
			g, url := running(t, up, func(c *gateway.Config) { c.Limits.Client = 50 * time.Millisecond })
			conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			size := max(len(tt.body), 10)
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", tt.path, size, tt.body)
			if tt.body == "" {
				text, _ := io.ReadAll(conn) // to its end
				if tt.path != "/nothing" && !strings.HasPrefix(string(text), "HTTP/1.1 400 ") {
					t.Errorf("half a request: %s", text)
				}
				return
			}
			for range 500 {
				if g.Running() > 0 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			for range 1000 {
				if g.Running() == 0 {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("%d requests are still running", g.Running())
		})
	}
}

// running is a gateway and its address.
func running(t *testing.T, up http.Handler, change func(*gateway.Config)) (*gateway.Gateway, string) {
	t.Helper()
	server := httptest.NewServer(up)
	t.Cleanup(server.Close)
	client, err := backend.New(backend.Config{Provider: "openai", URL: server.URL, HTTP: server.Client(), Formats: natively, OnlyOffered: true})
	if err != nil {
		t.Fatal(err)
	}
	c := gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Name: "up", Backend: client}}}}, NewID: func() string { return "1" }}
	change(&c)
	g, err := gateway.New(c)
	if err != nil {
		t.Fatal(err)
	}
	down := httptest.NewServer(g)
	t.Cleanup(down.Close)
	return g, down.URL
}

// TestReloadUnderLoad changes the configuration, to good ones and bad ones, while
// requests run: every one of them ends well, with its call.
func TestReloadUnderLoad(t *testing.T) {
	leavesNothing(t, "reload", func(t *testing.T) {
		m := newModel(apis[0], func(int, *utp.Request) []utp.Event {
			return says("Let me see.", utp.Call{ID: "call_1", Name: "get_weather", Args: json.RawMessage(`{"city":"Paris"}`)})
		})
		target := behind(t, "up", "openai", m)
		good := gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{target}}}, NewID: func() string { return "1" }}
		g, err := gateway.New(good)
		if err != nil {
			t.Fatal(err)
		}
		down := httptest.NewServer(g)
		t.Cleanup(down.Close)
		var asking sync.WaitGroup
		for _, a := range apis {
			for _, stream := range []bool{false, true} {
				asking.Go(func() {
					for range 20 {
						if reply, err := a.ask(t, down.URL, offer(stream)); err != nil || len(reply.Calls()) != 1 || reply.Text() != "Let me see." {
							t.Errorf("%s, stream %v: %+v, %v", a.name, stream, reply, err)
						}
					}
				})
			}
		}
		over := make(chan bool)
		go func() { asking.Wait(); close(over) }()
		for done := false; !done; {
			if err := g.Reload(gateway.Config{NewID: good.NewID}); err == nil {
				t.Error("a configuration without routes is in force")
			}
			if err := g.Reload(good); err != nil {
				t.Error(err)
			}
			select {
			case <-over:
				done = true
			default:
			}
		}
	})
}
