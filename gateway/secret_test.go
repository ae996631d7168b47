package gateway_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// TestKeysStayWhereTheyBelong has a server that quotes its key wherever it can,
// a key that looks like no key: the client does not get it, nor do the log, the
// traces, the reports and the metrics. The client's own key goes no further than
// the gateway.
func TestKeysStayWhereTheyBelong(t *testing.T) {
	const theirs, ours = "0123456789abcdef", "a-key-of-alice"
	quote := fmt.Sprintf(`{"error":{"message":"the key %s may not","type":"x"}}`, theirs)
	for _, tt := range []struct {
		name string
		up   http.HandlerFunc
	}{
		{"a refusal", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, quote, http.StatusBadRequest) }},
		{"a refusal of the key", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, quote, http.StatusUnauthorized) }},
		{"an error in a stream", stream("data: " + quote + "\n\n")},
		{"an error behind text", stream(chunkText, "data: "+quote+"\n\n")},
		{"garbage", stream("data: <html>" + theirs + "\n\n")},
		{"a page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>"+theirs) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var mu sync.Mutex
			var said bytes.Buffer // all that is written down
			var sent []http.Header
			up := func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				sent = append(sent, r.Header.Clone())
				mu.Unlock()
				tt.up(w, r)
			}
			url := start(t, http.HandlerFunc(up), backend.Config{Provider: "openai", APIKey: theirs, Retries: -1, Formats: natively}, func(c *gateway.Config) {
				c.Clients = []gateway.Client{{Name: "alice", Key: sha256.Sum256([]byte(ours))}}
				c.Log, c.Explain = slog.New(slog.NewTextHandler(&locked{&mu, &said}, nil)), true
				c.Trace = func(p gateway.Trace) { mu.Lock(); defer mu.Unlock(); fmt.Fprintf(&said, "trace %+v\n", p) }
				c.Observe = func(r gateway.Report) { mu.Lock(); defer mu.Unlock(); fmt.Fprintf(&said, "report %+v\n", r) }
			})
			check := func(what string, resp *http.Response, body string) {
				head, err := json.Marshal([]http.Header{resp.Header, resp.Trailer})
				if err != nil {
					t.Fatal(err)
				}
				if text := string(head) + body; strings.Contains(text, theirs) || strings.Contains(text, ours) {
					t.Errorf("%s: the client gets a key: %s", what, text)
				}
			}
			for _, a := range apis {
				for _, stream := range []bool{false, true} {
					resp, body := a.post(t, url, offer(stream), "Authorization", "Bearer "+ours)
					check(a.name, resp, body)
				}
			}
			for _, path := range []string{"/v1/embeddings", "/v1/audio/speech", "/metrics", "/v1/models"} {
				resp, body := get(t, "POST", url+path+"?key="+ours, `{"model":"m"}`)
				check(path, resp, body)
			}
			mu.Lock()
			defer mu.Unlock()
			if text := said.String(); !strings.Contains(text, "trace") || strings.Contains(text, theirs) || strings.Contains(text, ours) {
				t.Errorf("a key is written down, or nothing is:\n%s", text)
			}
			for _, h := range sent {
				if text := fmt.Sprint(h); strings.Contains(text, ours) || !strings.Contains(text, theirs) {
					t.Errorf("the server gets %s", text)
				}
			}
		})
	}
}

// strict is a transport that reaches one host only.
type strict struct {
	t     *testing.T
	host  string
	mu    sync.Mutex
	paths []string
}

func (s *strict) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.paths = append(s.paths, r.URL.RequestURI())
	s.mu.Unlock()
	if r.URL.Host != s.host || r.Host != "" && r.Host != s.host {
		s.t.Errorf("a request to %s at %s", r.URL, r.Host)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestNamesLeadNowhereElse has names of models that would be another path, query
// or host if they were not held as names.
func TestNamesLeadNowhereElse(t *testing.T) {
	names := []string{"../../admin", "../../../v1/files", "m?key=x", "m#x", "//evil.example/x", "http://evil.example/v1", "@evil.example",
		"m/../../admin", "m%2f..%2f..%2fadmin", "m\r\nHost: evil.example", "m:countTokens?x=", `..\..\admin`, "..", "."}
	for _, back := range apis {
		m := hello(back)
		server := httptest.NewServer(m)
		t.Cleanup(server.Close)
		way := &strict{t: t, host: strings.TrimPrefix(server.URL, "http://")}
		c, err := backend.New(backend.Config{Provider: back.name, URL: server.URL, Retries: -1, Formats: natively, HTTP: &http.Client{Transport: way}})
		if err != nil {
			t.Fatal(err)
		}
		url := listen(t, gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Backend: c}}}}, NewID: func() string { return "1" }})
		for _, front := range apis {
			for _, name := range names {
				m.Begin(m.Say)
				q := offer(false)
				q.Model = name
				way.paths = nil
				resp, body := front.post(t, url, q)
				for _, path := range way.paths {
					if !own(back.name, path) {
						t.Errorf("%s in front of %s, model %q: a request for %s: HTTP %d: %s", front.name, back.name, name, path, resp.StatusCode, body)
					}
				}
				if resp.StatusCode == 200 && (len(m.Asked()) != 1 || m.Asked()[0].Model != name) {
					t.Errorf("%s in front of %s, model %q: the server is asked for %v", front.name, back.name, name, m.Asked())
				}
			}
		}
	}
}

// own reports a path that a backend of an API asks for by itself.
func own(api, path string) bool {
	if api == "gemini" {
		name, ok := strings.CutPrefix(path, "/v1beta/models/")
		name, _, _ = strings.Cut(name, "?alt=sse")
		name, method, _ := strings.Cut(name, ":generateContent")
		return ok && method == "" && !strings.ContainsAny(name, "/?#\\")
	}
	return map[string]bool{"/v1/chat/completions": true, "/v1/responses": true, "/v1/messages": true, "/api/chat": true, "/api/show": true, "/api/ps": true,
		"/props": true, "/api/v0/models": true, "/v1/models": true}[path]
}

// TestTargetsLeadNowhereElse has request lines and headers that would lead to
// another host or out of the base path if they were passed on as they are.
func TestTargetsLeadNowhereElse(t *testing.T) {
	var mu sync.Mutex
	var heads []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		heads = append(heads, r.Header.Clone())
	}))
	t.Cleanup(server.Close)
	for _, provider := range []string{"openai", "gemini", "anthropic", "ollama"} {
		base := map[string]string{"openai": "/team/v1", "gemini": "/team", "anthropic": "/team/v1", "ollama": "/team"}[provider]
		way := &strict{t: t, host: strings.TrimPrefix(server.URL, "http://")}
		c, err := backend.New(backend.Config{Provider: provider, URL: server.URL + base, HTTP: &http.Client{Transport: way}})
		if err != nil {
			t.Fatal(err)
		}
		url := listen(t, gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Backend: c}}}}, NewID: func() string { return "1" }})
		for _, target := range []string{
			"GET http://evil.example/v1/files", "GET //evil.example/v1/files", "CONNECT evil.example:443", "OPTIONS *", "GET /v1/http://evil.example/",
			"GET /v1/../admin", "GET /v1/%2e%2e/admin", "GET /v1/%2e%2e%2f%2e%2e%2fadmin", "GET /v1/..%2f..%2fadmin", `GET /v1/..\..\admin`, "GET /v1/%00", "GET /v1/x%0d%0aHost:%20evil.example",
			"GET /v1beta/../admin", "GET /v1beta/%2e%2e/admin", "POST /v1beta/models/..%2f..%2fadmin:embedContent", "POST /v1beta/models/%2e%2e/%2e%2e/x:countTokens",
			"GET /api/%2e%2e/admin", "GET /api/..;/admin", "GET /v1/@evil.example", "GET /v1/x?y=http://evil.example#z", "GET /v1/messages/%2e%2e/%2e%2e/admin", "TRACE /v1/x",
		} {
			way.paths = nil
			answer := raw(t, url, target, "Host: localhost", "Authorization: Bearer mine", "Cookie: a=b", "X-Forwarded-Host: evil.example", "Proxy-Authorization: Basic x",
				"X-Original-URL: /admin", "Forwarded: host=evil.example", "Connection: close", "Upgrade: h2c")
			for _, path := range way.paths {
				if rest, inside := strings.CutPrefix(path, base+"/"); !inside || strings.Contains(rest, "../") || strings.Contains(rest, "admin") {
					t.Errorf("%s, %s: a request for %s: %s", provider, target, path, answer)
				}
			}
		}
	}
	for _, h := range heads {
		for name := range h {
			switch name {
			case "User-Agent", "Accept-Encoding", "Content-Length", "Anthropic-Version", "Transfer-Encoding":
			default:
				t.Errorf("the server gets the header %s: %q", name, h[name])
			}
		}
	}
	if len(heads) == 0 {
		t.Error("no request came through")
	}
}

// TestAnswerThatPassesThroughKeepsItsLimits has a server that tells its limits
// beside what belongs to it alone.
func TestAnswerThatPassesThroughKeepsItsLimits(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusTooManyRequests} {
		url := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for name, value := range map[string]string{"X-Ratelimit-Remaining-Tokens": "7", "Anthropic-Ratelimit-Requests-Reset": "later", "Retry-After": "9",
				"Set-Cookie": "session=1", "X-Internal": "rack 4"} {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
		}), backend.Config{Provider: "openai"})
		resp, err := http.Post(url+"/v1/moderations", "application/json", strings.NewReader(`{"input":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("status %d, want %d", resp.StatusCode, status)
		}
		for name, want := range map[string]string{"X-Ratelimit-Remaining-Tokens": "7", "Anthropic-Ratelimit-Requests-Reset": "later", "Retry-After": "9",
			"Set-Cookie": "", "X-Internal": ""} {
			if got := resp.Header.Get(name); got != want {
				t.Errorf("%d: %s is %q, want %q", status, name, got, want)
			}
		}
	}
}

// raw sends a request as it stands.
func raw(t *testing.T, url, target string, header ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s HTTP/1.1\r\n%s\r\n\r\n", target, strings.Join(header, "\r\n"))
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

// A key of the gateway that a client writes where none belongs is not in the log.
func TestAKeyInThePathIsNotInTheLog(t *testing.T) {
	const key = "bx-ZOHHMYBF3PKLS4FJYUUVHFDIQG"
	var mu sync.Mutex
	var log bytes.Buffer
	url := start(t, http.HandlerFunc(http.NotFound), backend.Config{Provider: "openai"}, func(c *gateway.Config) {
		c.Clients = []gateway.Client{{Name: "alice", Key: sha256.Sum256([]byte(key))}}
		c.Log = slog.New(slog.NewTextHandler(&locked{&mu, &log}, nil))
	})
	for _, path := range []string{"/v1/files/" + key, "/" + key, "/v1/models/" + key + "?key=" + key} {
		get(t, "GET", url+path, "", "Authorization", "Bearer "+key)
	}
	if text := told(&mu, &log); !strings.Contains(text, "client=alice") || strings.Contains(text, key) {
		t.Error(text)
	}
}
