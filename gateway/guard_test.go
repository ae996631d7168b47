package gateway_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// hello is a model that greets.
func hello(a api) *fake.API {
	return newModel(a, func(int, *utp.Request) []utp.Event { return says("Hello there, all is well.") })
}

// get asks for a path with headers.
func get(t testing.TB, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// Web pages are kept out, also those whose name has been made to point here.
func TestWebPages(t *testing.T) {
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, func(c *gateway.Config) {
		c.Hosts, c.Origins = []string{"host.docker.internal"}, []string{"https://chat.example"}
	})
	for _, tt := range []struct {
		method string
		header []string
		want   int
	}{
		{"GET", nil, 200},
		{"GET", []string{"Host", "localhost:4141"}, 200},
		{"GET", []string{"Host", "[::1]:4141"}, 200},
		{"GET", []string{"Host", "host.docker.internal:4141"}, 200},
		{"GET", []string{"Host", "evil.example"}, 403},
		{"GET", []string{"Host", "127.0.0.1.evil.example"}, 403},
		{"GET", []string{"Origin", "http://evil.example"}, 403},
		{"GET", []string{"Origin", "null"}, 403},
		{"GET", []string{"Origin", "http://localhost:3000"}, 403},
		{"GET", []string{"Origin", "https://chat.example"}, 200},
		{"OPTIONS", []string{"Origin", "https://chat.example", "Access-Control-Request-Headers", "authorization"}, 204},
		{"OPTIONS", []string{"Origin", "http://evil.example"}, 403},
	} {
		resp, body := get(t, tt.method, url+"/v1/models", "", tt.header...)
		if resp.StatusCode != tt.want {
			t.Errorf("%s %v: HTTP %d: %s", tt.method, tt.header, resp.StatusCode, body)
		}
		if allowed := resp.Header.Get("Access-Control-Allow-Origin"); (allowed != "") != (len(tt.header) > 1 && tt.header[1] == "https://chat.example") {
			t.Errorf("%s %v: Access-Control-Allow-Origin: %q", tt.method, tt.header, allowed)
		}
	}
}

// keyed is a configuration with one client.
func keyed(change func(*gateway.Client)) func(*gateway.Config) {
	return func(c *gateway.Config) {
		one := gateway.Client{Name: "alice", Key: sha256.Sum256([]byte("bx-alice"))}
		change(&one)
		c.Clients = []gateway.Client{one, {Name: "bob", Key: sha256.Sum256([]byte("bx-bob"))},
			{Name: "prometheus", Key: sha256.Sum256([]byte("bx-prometheus")), Metrics: true}}
	}
}

func TestKeys(t *testing.T) {
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, keyed(func(*gateway.Client) {}))
	for _, tt := range []struct {
		path   string
		header []string
		want   int
	}{
		{"/v1/models", nil, 401},
		{"/v1/models", []string{"Authorization", "Bearer bx-alice"}, 200},
		{"/v1/models", []string{"Authorization", "bearer bx-bob"}, 200},
		{"/v1/models", []string{"x-api-key", "bx-alice"}, 200},
		{"/v1/models", []string{"x-goog-api-key", "bx-alice"}, 200},
		{"/v1/models?key=bx-alice", nil, 200},
		{"/v1/models", []string{"Authorization", "Bearer bx-mallory"}, 401},
		{"/v1/models", []string{"Authorization", "Basic bx-alice"}, 401},
		{"/v1/models?key=", nil, 401},
		{"/metrics", nil, 401},
		{"/metrics", []string{"x-api-key", "bx-alice"}, 403},
		{"/metrics", []string{"Authorization", "Bearer bx-prometheus"}, 200},
		{"/v1/models", []string{"Authorization", "Bearer bx-prometheus"}, 403},
		{"/healthz", nil, 200},
		{"/readyz", nil, 200},
		{"/v1/files", []string{"x-api-key", "bx-alice"}, 403},
		{"/v1/embeddings/../files", []string{"x-api-key", "bx-alice"}, 403},
		{"/v1/embeddings/%2e%2e/files", []string{"x-api-key", "bx-alice"}, 403},
		{"/api/pull", []string{"x-api-key", "bx-alice"}, 403},
	} {
		if resp, body := get(t, "GET", url+tt.path, "", tt.header...); resp.StatusCode != tt.want || strings.Contains(body, "bx-mallory") {
			t.Errorf("%s %v: HTTP %d: %s", tt.path, tt.header, resp.StatusCode, body)
		}
	}
	for _, a := range apis {
		if resp, body := a.post(t, url, offer(true)); resp.StatusCode != 401 || !strings.Contains(body, errorWords[a.name][0]) {
			t.Errorf("%s: HTTP %d: %s", a.name, resp.StatusCode, body)
		}
		if resp, body := a.post(t, url, offer(true), "Authorization", "Bearer bx-bob"); resp.StatusCode != 200 {
			t.Errorf("%s: HTTP %d: %s", a.name, resp.StatusCode, body)
		}
	}
}

// clock stands still until it is told to go on.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func TestLimitsOfAClient(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limit  func(*gateway.Client)
		before int // requests that are let in
	}{
		{"requests", func(c *gateway.Client) { c.Requests = 3 }, 3},
		{"tokens", func(c *gateway.Client) { c.Tokens = 15 }, 2}, // a reply is 10
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &clock{at: time.Unix(1e9, 0)}
			url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, keyed(tt.limit), func(g *gateway.Config) { g.Now = c.now })
			alice, bob := []string{"x-api-key", "bx-alice"}, []string{"x-api-key", "bx-bob"}
			ask := func(key []string) (int, string) {
				resp, _ := apis[0].post(t, url, offer(false), key...)
				return resp.StatusCode, resp.Header.Get("Retry-After")
			}
			for i := range tt.before {
				if got, _ := ask(alice); got != 200 {
					t.Fatalf("request %d: HTTP %d", i+1, got)
				}
			}
			got, after := ask(alice)
			if got != 429 || after == "" || after == "0" {
				t.Errorf("HTTP %d, Retry-After %q", got, after)
			}
			if got, _ := ask(bob); got != 200 {
				t.Errorf("another client: HTTP %d", got)
			}
			wait, err := time.ParseDuration(after + "s")
			if err != nil {
				t.Fatal(err)
			}
			c.pass(wait)
			if got, _ := ask(alice); got != 200 {
				t.Errorf("after the pause that was asked for: HTTP %d", got)
			}
		})
	}
}

// A reply that breaks off, or that nobody counts, is not for nothing.
func TestTokensThatNobodyCounts(t *testing.T) {
	for name, up := range map[string]http.HandlerFunc{"cut": stream(chunkText, "cut"), "not counted": stream(chunkText, chunkStop, done)} {
		url := start(t, up, backend.Config{Provider: "openai", Retries: -1, Formats: natively}, keyed(func(c *gateway.Client) { c.Tokens = 15 }))
		for i, want := range []int{200, 429} {
			if resp, body := apis[0].post(t, url, offer(true), "x-api-key", "bx-alice"); resp.StatusCode != want {
				t.Errorf("%s, request %d: HTTP %d: %s", name, i+1, resp.StatusCode, body)
			}
		}
	}
}

func TestRequestsAtOnce(t *testing.T) {
	inside, goOn := make(chan bool, 9), make(chan bool)
	m := newModel(apis[0], func(int, *utp.Request) []utp.Event {
		inside <- true
		<-goOn
		return says("Done.")
	})
	url := start(t, m, backend.Config{Provider: "openai"}, keyed(func(c *gateway.Client) { c.Parallel = 1 }), func(c *gateway.Config) { c.Limits.Requests = 2 })
	free := sync.OnceFunc(func() { close(goOn) })
	t.Cleanup(free)
	var wg sync.WaitGroup
	for _, key := range []string{"bx-alice", "bx-bob"} {
		wg.Go(func() {
			if resp, body := apis[0].post(t, url, offer(false), "x-api-key", key); resp.StatusCode != 200 {
				t.Errorf("%s: HTTP %d: %s", key, resp.StatusCode, body)
			}
		})
		select {
		case <-inside:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the request is not let in", key)
		}
		if resp, body := apis[0].post(t, url, offer(false), "x-api-key", "bx-alice"); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" {
			t.Errorf("HTTP %d: %s", resp.StatusCode, body)
		}
	}
	if resp, body := apis[0].post(t, url, offer(false), "x-api-key", "bx-bob"); resp.StatusCode != 429 || !strings.Contains(body, "gateway has as many") {
		t.Errorf("a third at once: HTTP %d: %s", resp.StatusCode, body)
	}
	free()
	wg.Wait()
}

// TestBucketNeverGoesBack has a request that ends long after it began. What it
// pays then fills no minute that another request has used.
func TestBucketNeverGoesBack(t *testing.T) {
	began := time.Unix(1000, 0)
	var now atomic.Pointer[time.Time]
	now.Store(&began)
	inside, goOn := make(chan bool, 9), make(chan bool)
	m := newModel(apis[0], func(turn int, _ *utp.Request) []utp.Event {
		if turn == 1 {
			inside <- true
			<-goOn
		}
		return append(says("Done.")[:1], utp.Event{Kind: utp.EventFinish, Part: 1, End: &utp.End{Stop: utp.StopEnd, Usage: utp.Usage{Input: 20, Output: 10}}})
	})
	url := start(t, m, backend.Config{Provider: "openai"}, keyed(func(c *gateway.Client) { c.Tokens = 60 }),
		func(c *gateway.Config) { c.Now = func() time.Time { return *now.Load() } })
	ask := func(want int) {
		t.Helper()
		if resp, body := apis[0].post(t, url, offer(false), "x-api-key", "bx-alice"); resp.StatusCode != want {
			t.Errorf("HTTP %d, want %d: %s", resp.StatusCode, want, body)
		}
	}
	var slow sync.WaitGroup
	slow.Go(func() { ask(200) })
	<-inside
	later := began.Add(time.Minute)
	now.Store(&later)
	ask(200)
	close(goOn)
	slow.Wait()
	ask(429) // both have used 30 of 60
}

// TestLimitsOutliveAReload: a client that has used its limits gets no new ones
// with another file, only what the new limit has more, and a request that runs
// still counts.
func TestLimitsOutliveAReload(t *testing.T) {
	inside, goOn := make(chan bool, 9), make(chan bool)
	m := newModel(apis[0], func(turn int, _ *utp.Request) []utp.Event {
		if turn == 3 {
			inside <- true
			<-goOn
		}
		return says("Done.")
	})
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	up, err := backend.New(backend.Config{Provider: "openai", URL: server.URL, HTTP: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1000, 0)
	conf := func(requests int) gateway.Config {
		c := gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Name: "up", Backend: up}}}}, NewID: func() string { return "1" }, Now: func() time.Time { return now }}
		keyed(func(c *gateway.Client) { c.Requests, c.Parallel = requests, 1 })(&c)
		return c
	}
	g, err := gateway.New(conf(2))
	if err != nil {
		t.Fatal(err)
	}
	down := httptest.NewServer(g)
	t.Cleanup(down.Close)
	ask := func(want int, why string) {
		t.Helper()
		if resp, body := apis[0].post(t, down.URL, offer(false), "x-api-key", "bx-alice"); resp.StatusCode != want || !strings.Contains(body, why) {
			t.Errorf("HTTP %d, want %d and %q: %s", resp.StatusCode, want, why, body)
		}
	}
	reload := func(requests int) {
		t.Helper()
		if err := g.Reload(conf(requests)); err != nil {
			t.Fatal(err)
		}
	}
	ask(200, "")
	ask(200, "")
	ask(429, "requests for the minute")
	reload(4)
	var slow sync.WaitGroup
	slow.Go(func() { ask(200, "") })
	<-inside
	reload(5)
	ask(429, "as many requests as this key may have")
	close(goOn)
	slow.Wait()
	ask(200, "")
	ask(200, "")
	ask(429, "requests for the minute")
}

func TestLongRequests(t *testing.T) {
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.Limits.Body = 100 })
	for _, a := range apis {
		resp, body := a.post(t, url, offer(false))
		want := map[string]int{"gemini": 400, "ollama": 400}[a.name]
		if want == 0 {
			want = 413
		}
		if resp.StatusCode != want && resp.StatusCode != 413 || !strings.Contains(body, "longer than 100 bytes") {
			t.Errorf("%s: HTTP %d: %s", a.name, resp.StatusCode, body)
		}
	}
}

// Requests may come packed with gzip, within the bound of all requests; other
// packings are refused in words.
func TestCompressedRequests(t *testing.T) {
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.Limits.Body = 1 << 20 })
	for _, a := range apis {
		if resp, body := a.post(t, url, offer(false), "Content-Encoding", "zstd"); resp.StatusCode != 415 || !strings.Contains(body, "with gzip") || resp.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("%s: HTTP %d: %s", a.name, resp.StatusCode, body)
		}
		x, err := a.back.Open(offer(false))
		if err != nil {
			t.Fatal(err)
		}
		resp, body := get(t, "POST", url+x.Path, packed(t, x.Body), "Content-Encoding", "gzip", "Content-Type", "application/json")
		if resp.StatusCode != 200 || !strings.Contains(body, "Hello") {
			t.Errorf("%s, packed: HTTP %d: %s", a.name, resp.StatusCode, body)
		}
	}
	bomb := packed(t, bytes.Repeat([]byte(" "), 2<<20))
	if resp, body := get(t, "POST", url+"/v1/chat/completions", bomb, "Content-Encoding", "gzip"); resp.StatusCode != 413 || !strings.Contains(body, "longer than 1048576 bytes") {
		t.Errorf("more than may be, unpacked: HTTP %d: %s", resp.StatusCode, body)
	}
	if resp, body := get(t, "POST", url+"/v1/embeddings", "x", "Content-Encoding", "gzip"); resp.StatusCode != 400 || !strings.Contains(body, "that gzip can read") {
		t.Errorf("not packed at all: HTTP %d: %s", resp.StatusCode, body)
	}
}

func packed(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What people say, and keys, do not come into the log.
func TestLogHoldsNoContent(t *testing.T) {
	logs, log := logged(slog.LevelInfo)
	m := newModel(apis[0], func(int, *utp.Request) []utp.Event { return says("A secret answer.") })
	url := start(t, m, backend.Config{Provider: "openai", APIKey: "sk-thebackendskey"}, keyed(func(*gateway.Client) {}), logs)
	q := offer(false)
	q.Messages = []utp.Message{utp.NewText(utp.RoleUser, "A secret question.")}
	for _, a := range apis {
		a.post(t, url, q, "x-api-key", "bx-alice")
	}
	for _, a := range apis {
		seen(t, "the log", "api="+a.name+" ", log)
	}
	text := log()
	if strings.Count(text, "msg=request") != len(apis) || !strings.Contains(text, "client=alice model=m target=up stream=false tools=2 in=7 out=3") {
		t.Errorf("the log is\n%s", text)
	}
	for _, secret := range []string{"secret", "sk-", "bx-alice", "weather"} {
		if strings.Contains(text, secret) {
			t.Errorf("the log holds %q:\n%s", secret, text)
		}
	}
}

type locked struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}
