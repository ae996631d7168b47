package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/mcp"
)

const key = "a key of the test's own"

// protocols are those that clients speak today.
var protocols = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// withKey sends the key with every request.
type withKey struct{}

func (withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+key)
	return http.DefaultTransport.RoundTrip(r)
}

func httpClient() *http.Client { return &http.Client{Transport: withKey{}} }

// serveHTTP serves a configuration over HTTP.
func serveHTTP(t *testing.T, c mcp.Config, a mcp.Access) string {
	t.Helper()
	srv, err := mcp.New(c)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler(a))
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return web.URL
}

// dialHTTP connects the SDK's client.
func dialHTTP(t *testing.T, url, protocol string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: url + "/mcp", HTTPClient: httpClient()},
		&sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

// contract: C-10 C-09 C-12
func TestHTTPServesEveryProtocol(t *testing.T) {
	url := serveHTTP(t, config(&script{}, agent.Gate{Tier: utp.TierWalk}), mcp.Access{Key: key})
	for _, protocol := range protocols {
		client := dialHTTP(t, url, protocol, nil)
		if got := client.InitializeResult().ProtocolVersion; got != protocol {
			t.Errorf("protocol %s, want %s", got, protocol)
		}
		list, err := client.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 3 {
			t.Fatalf("%s: %d tools, %v", protocol, len(list.Tools), err)
		}
		if r := call(t, client, "search_code", map[string]any{"query": "x"}); r.IsError || !strings.Contains(text(r), "the word error") {
			t.Errorf("%s: %v %q", protocol, r.IsError, text(r))
		}
		if r := call(t, client, "read_file", map[string]any{"path": "a"}); !r.IsError || !strings.Contains(text(r), "File not found") {
			t.Errorf("%s: %v %q", protocol, r.IsError, text(r))
		}
		if _, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "nope"}); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}

// contract: C-10 X-08
func TestHTTPAsksInEveryProtocol(t *testing.T) {
	for _, protocol := range protocols {
		for _, c := range []struct {
			user   *user
			writes int
			text   string
		}{
			{&user{answer: yes()}, 1, "written"},
			{&user{answer: sdk.ElicitResult{Action: "decline"}}, 0, "the user said no"},
			{nil, 0, "the client cannot ask the user"},
		} {
			run := &script{}
			url := serveHTTP(t, config(run, agent.Gate{Tier: utp.TierRun}), mcp.Access{Key: key})
			var o *sdk.ClientOptions
			if c.user != nil {
				o = c.user.options()
			}
			r := call(t, dialHTTP(t, url, protocol, o), "write_file", write)
			if run.writes != c.writes || !strings.Contains(text(r), c.text) {
				t.Errorf("%s: %d writes, want %d; %q, want %q", protocol, run.writes, c.writes, text(r), c.text)
			}
		}
	}
}

// contract: C-10
func TestHTTPWantsTheKeyInAHeader(t *testing.T) {
	url := serveHTTP(t, config(&script{}, agent.Gate{}), mcp.Access{Key: key})
	for _, c := range []struct {
		name, path, header, value string
		status                    int
	}{
		{"none", "/mcp", "", "", 401},
		{"wrong", "/mcp", "Authorization", "Bearer " + key + "x", 401},
		{"empty", "/mcp", "Authorization", "Bearer ", 401},
		{"another scheme", "/mcp", "Authorization", "Basic " + key, 401},
		{"in the URL", "/mcp?api_key=" + strings.ReplaceAll(key, " ", "+"), "", "", 401},
		{"bearer", "/mcp", "Authorization", "bearer " + key, 200},
		{"X-API-Key", "/mcp", "X-API-Key", key, 200},
		{"health", "/health", "", "", 200},
		{"elsewhere", "/sse", "", "", 404},
	} {
		status, body, head := ask(t, url+c.path, c.header, c.value)
		if status != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, status, body, c.status)
		}
		if status == 200 {
			continue
		}
		if head.Get("Content-Type") != "application/json" || reason(body) == "" {
			t.Errorf("%s: no JSON error: %s", c.name, body)
		}
		if status == 401 && head.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no WWW-Authenticate", c.name)
		}
	}
	_, body, _ := ask(t, url+"/health", "", "")
	if want := `{"server":"bx","status":"ok","tools":1,"transport":"streamable-http","version":"1"}`; strings.TrimSpace(body) != want {
		t.Errorf("health: %s, want %s", body, want)
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// ask initializes, or asks for another page.
func ask(t *testing.T, url string, headers ...string) (status int, body string, head http.Header) {
	t.Helper()
	method, say := "POST", io.Reader(strings.NewReader(hello))
	if !strings.Contains(url, "/mcp") {
		method, say = "GET", nil
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, say)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		switch headers[i] {
		case "":
		case "Host":
			r.Host = headers[i+1]
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	return send(t, r)
}

func send(t *testing.T, r *http.Request) (status int, body string, head http.Header) {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

func reason(body string) string {
	var e struct{ Error struct{ Message string } }
	_ = json.Unmarshal([]byte(body), &e) // no JSON has no message
	return e.Error.Message
}

// A page in a browser reaches servers of this machine under names of its own.
//
// contract: C-10
func TestHTTPRefusesWebPages(t *testing.T) {
	url := serveHTTP(t, config(&script{}, agent.Gate{}), mcp.Access{Key: key, Hosts: []string{"Tools.example"}})
	for _, c := range []struct {
		header, value string
		status        int
	}{
		{"Host", "evil.example", 403},
		{"Host", "localhost.evil.example", 403},
		{"Host", "evil.example:80", 403},
		{"Host", "localhost:1234", 200},
		{"Host", "[::1]:1234", 200},
		{"Host", "192.168.1.2:8765", 200},
		{"Host", "tools.example", 200},
		{"Origin", "http://evil.example", 403},
		{"Origin", "https://localhost.evil.example", 403},
		{"Origin", "http://192.168.1.2", 403},
		{"Origin", "null", 403},
		{"Origin", "http://localhost:6274", 200},
		{"Origin", "http://127.0.0.1:3000", 200},
		{"Origin", "https://tools.example", 200},
	} {
		status, body, _ := ask(t, url+"/mcp", "Authorization", "Bearer "+key, c.header, c.value)
		if status != c.status || status == 403 && reason(body) == "" {
			t.Errorf("%s %s: %d %s, want %d", c.header, c.value, status, body, c.status)
		}
		if status, _, _ := ask(t, url+"/health", c.header, c.value); status != c.status {
			t.Errorf("health, %s %s: %d, want %d", c.header, c.value, status, c.status)
		}
	}
}

// contract: C-10
func TestHTTPRefusesLongRequests(t *testing.T) {
	url := serveHTTP(t, config(&script{}, agent.Gate{}), mcp.Access{Key: key, MaxRequest: 1000})
	for _, protocol := range protocols {
		r, err := http.NewRequestWithContext(t.Context(), "POST", url+"/mcp", strings.NewReader(hello+strings.Repeat(" ", 1000)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Protocol-Version", protocol)
		if status, body, _ := send(t, r); status != 413 || !strings.Contains(reason(body), "longer than 1000 bytes") {
			t.Errorf("%s: %d %s", protocol, status, body)
		}
	}
}

// contract: C-10
func TestHTTPWithoutKeyForASocket(t *testing.T) {
	url := serveHTTP(t, config(&script{}, agent.Gate{}), mcp.Access{})
	if status, body, _ := ask(t, url+"/mcp"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

func TestHTTPSessionsAreBounded(t *testing.T) {
	url := serveHTTP(t, config(&script{}, agent.Gate{}), mcp.Access{Key: key})
	var status int
	var body string
	for n := range 300 {
		if status, body, _ = ask(t, url+"/mcp", "Authorization", "Bearer "+key); status != 200 {
			if n != 256 || status != 503 || !strings.Contains(reason(body), "256 sessions") {
				t.Errorf("session %d: %d %s", n, status, body)
			}
			return
		}
	}
	t.Errorf("no end of sessions: %d", status)
}

// slow runs until it is told that nobody waits any more.
type slow struct{ started, ended chan struct{} }

func (s slow) Run(ctx context.Context, c utp.Call) utp.Result {
	s.started <- struct{}{}
	<-ctx.Done()
	s.ended <- struct{}{}
	return utp.TextResult(c, utp.StatusFailed, "stopped")
}

// contract: C-09 C-10
func TestCancelEndsTheCall(t *testing.T) {
	run := slow{make(chan struct{}), make(chan struct{}, 1)}
	url := serveHTTP(t, config(run, agent.Gate{Tier: utp.TierWalk}), mcp.Access{Key: key})
	for _, protocol := range protocols {
		client := dialHTTP(t, url, protocol, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := client.CallTool(ctx, &sdk.CallToolParams{Name: "stats"})
			done <- err
		}()
		<-run.started
		cancel()
		if err := <-done; err == nil {
			t.Errorf("%s: a cancelled call has a result", protocol)
		}
		select {
		case <-run.ended:
		case <-time.After(10 * time.Second):
			t.Errorf("%s: the tool runs on", protocol)
		}
	}
}

// counts is a Runner for many at a time.
type counts struct {
	mu sync.Mutex
	n  int
}

func (r *counts) Run(_ context.Context, c utp.Call) utp.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return utp.TextResult(c, utp.StatusOK, string(c.Args))
}

// contract: C-10
func TestHTTPServesManyAtOnce(t *testing.T) {
	run := &counts{}
	url := serveHTTP(t, config(run, agent.Gate{Tier: utp.TierWalk}), mcp.Access{Key: key})
	var all sync.WaitGroup
	for i := range 9 {
		client := dialHTTP(t, url, protocols[i%len(protocols)], nil)
		for j := range 10 {
			all.Go(func() {
				args := map[string]any{"query": string(rune('a' + j))}
				r, err := client.CallTool(context.Background(), &sdk.CallToolParams{Name: "search_code", Arguments: args})
				if err != nil || !strings.Contains(text(r), `"`+string(rune('a'+j))+`"`) {
					t.Errorf("call %d: %v, %v", j, r, err)
				}
			})
		}
	}
	all.Wait()
	if run.n != 90 {
		t.Errorf("%d calls, want 90", run.n)
	}
}
