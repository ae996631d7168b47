package gateway_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// A stream with nothing to say yet says that it lives, and what comes is read by
// the client as if nothing had been.
func TestHeartbeats(t *testing.T) {
	pings := map[string]string{"openai": ": still here", "responses": ": still here", "anthropic": "event: ping", "gemini": "", "ollama": `"content":""`}
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			goOn := make(chan bool)
			m := newModel(apis[0], func(int, *utp.Request) []utp.Event {
				<-goOn
				return says("Here I am after all.")
			})
			url := start(t, m, backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.Limits.Heartbeat = 2 * time.Millisecond })
			more := sync.OnceFunc(func() { close(goOn) })
			t.Cleanup(more)
			x, err := a.back.Open(offer(true))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.Post(url+x.Path, "application/json", bytes.NewReader(x.Body))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			r := bufio.NewReader(resp.Body)
			line, err := r.ReadString('\n') // nothing but a heartbeat can come
			if err != nil || !strings.Contains(line, pings[a.name]) {
				t.Fatalf("%q, %v", line, err)
			}
			more()
			rest := new(bytes.Buffer)
			if _, err := rest.ReadFrom(r); err != nil {
				t.Fatal(err)
			}
			reply, err := a.streamed(t, x, append([]byte(line), rest.Bytes()...))
			if err != nil || reply.Text() != "Here I am after all." {
				t.Errorf("%q, %v", reply.Text(), err)
			}
		})
	}
}

// A call that is held says that it lives, too.
func TestHeartbeatsWhileHolding(t *testing.T) {
	chunk := func(text string) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", text)
	}
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			goOn := make(chan bool)
			more := sync.OnceFunc(func() { close(goOn) })
			up := func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					http.NotFound(w, r)
					return
				}
				stream(chunk("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Pa"))(w, r)
				<-goOn
				stream(chunk("ris\"}}\n</tool_call>"), chunkStop, done)(w, r)
			}
			url := start(t, http.HandlerFunc(up), backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.Limits.Heartbeat = 2 * time.Millisecond })
			t.Cleanup(more)
			x, err := a.back.Open(offer(true))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.Post(url+x.Path, "application/json", bytes.NewReader(x.Body))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			r := bufio.NewReader(resp.Body)
			line, err := r.ReadString('\n')
			if err != nil || strings.Contains(line, "tool") || strings.Contains(line, "weather") {
				t.Fatalf("%q, %v", line, err)
			}
			more()
			rest := new(bytes.Buffer)
			if _, err := rest.ReadFrom(r); err != nil {
				t.Fatal(err)
			}
			reply, err := a.streamed(t, x, append([]byte(line), rest.Bytes()...))
			if err != nil || len(reply.Calls()) != 1 || string(reply.Calls()[0].Args) != `{"city":"Paris"}` || reply.Text() != "" {
				t.Errorf("%+v, %v", reply, err)
			}
		})
	}
}

// An error after a heartbeat is told in the stream.
func TestErrorAfterHeartbeat(t *testing.T) {
	for _, a := range apis {
		up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				http.NotFound(w, r)
				return
			}
			time.Sleep(50 * time.Millisecond)
			refusal(400, "no luck", "")(w, r)
		})
		url := start(t, up, backend.Config{Provider: "openai", Retries: -1}, func(c *gateway.Config) { c.Limits.Heartbeat = time.Millisecond })
		resp, body := a.post(t, url, offer(true))
		if resp.StatusCode != 200 || strings.Count(body, "no luck") != 1 || !strings.Contains(body, errorWords[a.name][1]) {
			t.Errorf("%s: HTTP %d: %s", a.name, resp.StatusCode, body)
		}
	}
}

func TestExplain(t *testing.T) {
	m := newModel(apiNamed("anthropic"), func(int, *utp.Request) []utp.Event {
		return says("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": \"3\",}}\n</tool_call>")
	})
	url := start(t, m, backend.Config{Provider: "anthropic"}, func(c *gateway.Config) { c.Explain = true })
	for _, stream := range []bool{false, true} {
		q := offer(stream)
		seed := int64(3)
		q.Params.Seed = &seed
		resp, body := apiNamed("openai").post(t, url, q)
		head := resp.Header
		if stream {
			head = resp.Trailer
		}
		if fixes := head.Values("X-Bx-Fix"); len(fixes) != 2 || !strings.Contains(strings.Join(fixes, " "), "/days") {
			t.Errorf("stream %v: X-Bx-Fix: %q: %s", stream, fixes, body)
		}
		if losses := head.Values("X-Bx-Loss"); len(losses) == 0 {
			t.Errorf("stream %v: no X-Bx-Loss", stream)
		}
		if resp.Header.Get("X-Bx-Target") != "up" || resp.Header.Get("X-Bx-Model") != "m" || resp.Header.Get("X-Bx-Id") != "1" {
			t.Errorf("stream %v: %v", stream, resp.Header)
		}
	}
}

// A prompt that does not fit the window is told in a header, and the window is
// set by the prompt.
func TestWindow(t *testing.T) {
	m := hello(apiNamed("ollama"))
	url := start(t, m, backend.Config{Provider: "ollama"})
	for size, want := range map[int]int{1000: 8192, 150000: 52500, 240000: 1 << 16} {
		m.Begin(m.Say)
		q := offer(true)
		q.Messages = []utp.Message{utp.NewText(utp.RoleUser, strings.Repeat("is a ", size/5))}
		resp, _ := apis[0].post(t, url, q)
		if c := m.Asked()[0].Params.Context; c == nil || *c < want && size < 240000 || *c > 1<<16 {
			t.Errorf("%d bytes: num_ctx %v, want %d", size, c, want)
		}
		warned := strings.Contains(resp.Header.Get("X-Bx-Warning"), "its beginning may be cut off")
		if warned != (size == 240000) {
			t.Errorf("%d bytes: X-Bx-Warning: %q", size, resp.Header.Get("X-Bx-Warning"))
		}
	}
}

// A trace holds both sides of a request and no credentials.
func TestTrace(t *testing.T) {
	var mu sync.Mutex
	var pieces []gateway.Trace
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai", APIKey: "sk-thebackendskey"}, func(c *gateway.Config) {
		c.Trace = func(p gateway.Trace) { mu.Lock(); defer mu.Unlock(); pieces = append(pieces, p) }
	})
	q := offer(true)
	q.Messages = []utp.Message{utp.NewText(utp.RoleUser, "My key is sk-mysecretkey123.")}
	if _, err := apiNamed("anthropic").ask(t, url, q); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	seen := map[string]string{}
	for _, p := range pieces {
		seen[p.Side+" "+p.Way] += p.Body
		if p.ID != "1" || strings.Contains(p.Body, "mysecretkey") || strings.Contains(p.Body, "thebackendskey") {
			t.Errorf("%+v", p)
		}
	}
	for side, want := range map[string]string{"client in": `"max_tokens":100`, "backend out": "stream_options", "backend in": `"object":"chat.completion.chunk"`, "client out": "event: message_stop"} {
		if !strings.Contains(seen[side], want) {
			t.Errorf("%s: %s, want %s", side, seen[side], want)
		}
	}
}

func TestMetricsAndReadiness(t *testing.T) {
	over := make(chan gateway.Report, 6)
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, func(c *gateway.Config) {
		c.Observe = func(r gateway.Report) { over <- r }
	})
	for _, a := range apis {
		a.post(t, url, offer(false))
	}
	get(t, "POST", url+"/v1/chat/completions", `{"model":3}`)
	_, text := get(t, "GET", url+"/metrics", "")
	for _, want := range []string{
		`bx_requests_total{operation="chat",api="anthropic",target="up",model="m",client="",status="200",reason="ok"} 1`,
		`bx_requests_total{operation="chat",api="openai",target="",model="",client="",status="400",reason="bad_request"} 1`,
		`bx_tokens_total{direction="in"} 35`, `bx_request_seconds_count{api="gemini",target="up",model="m"} 1`, `bx_request_seconds_bucket{api="ollama",target="up",model="m",le="+Inf"} 1`, "bx_requests_running 0",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("want %s in\n%s", want, text)
		}
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(line, "# ") && len(strings.Fields(line)) < 2 {
			t.Errorf("a line that is none of the format: %q", line)
		}
	}
	for i := range len(apis) + 1 {
		if r := <-over; i < len(apis) && (r.Usage.Input != 7 || r.Err != nil) || i == len(apis) && r.Err == nil {
			t.Errorf("report %d: %+v", i, r)
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200} {
		if resp, body := get(t, "GET", url+path, ""); resp.StatusCode != want {
			t.Errorf("%s: HTTP %d: %s", path, resp.StatusCode, body)
		}
	}
	lost := start(t, http.NotFoundHandler(), backend.Config{Provider: "openai"})
	if resp, _ := get(t, "GET", lost+"/readyz", ""); resp.StatusCode != 503 {
		t.Errorf("without a backend: HTTP %d", resp.StatusCode)
	}
}

// A stream that breaks off is not counted as a good one.
func TestBrokenStreamsAreCounted(t *testing.T) {
	over := make(chan bool, 1)
	url := start(t, stream(chunkText, "cut"), backend.Config{Provider: "openai", Retries: -1, Formats: natively}, func(c *gateway.Config) {
		c.Observe = func(gateway.Report) { over <- true }
	})
	apis[0].post(t, url, offer(true))
	<-over
	if _, text := get(t, "GET", url+"/metrics", ""); !strings.Contains(text, `target="up",model="other",client="",status="200",reason="cut"} 1`) {
		t.Error(text)
	}
}

// The gateway is ready when any backend answers, whatever names lead there.
func TestReadiness(t *testing.T) {
	good, _ := target(t, "good", "openai")
	gone := behind(t, "gone", "openai", http.NotFoundHandler())
	for want, to := range map[int][]gateway.Target{200: {gone, good}, 503: {gone}} {
		url := listen(t, gateway.Config{NewID: ids(), Routes: []gateway.Route{{Match: []string{"gpt-4o"}, To: to}}})
		if resp, body := get(t, "GET", url+"/readyz", ""); resp.StatusCode != want {
			t.Errorf("HTTP %d: %s, want %d", resp.StatusCode, body, want)
		}
	}
}

// Token counts come from a backend of the client's own API, or are a guess.
func TestCounts(t *testing.T) {
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"})
	for path, body := range map[string]string{
		"/v1/messages/count_tokens":         `{"model":"m","messages":[{"role":"user","content":"How many tokens are these?"}]}`,
		"/v1/messages/count_tokens?beta=1":  `{"model":"m","messages":[{"role":"user","content":"How many tokens are these?"}]}`,
		"/v1/responses/input_tokens":        `{"model":"m","input":"How many tokens are these?"}`,
		"/v1beta/models/m:countTokens":      `{"contents":[{"role":"user","parts":[{"text":"How many tokens are these?"}]}]}`,
		"/v1beta/models/o/m:countTokens?a=": `{"contents":[{"role":"user","parts":[{"text":"How many tokens are these?"}]}]}`,
	} {
		if resp, text := get(t, "POST", url+path, body); resp.StatusCode != 200 || !strings.Contains(strings.ToLower(text), "tokens\":10") && !strings.Contains(text, ":10") {
			t.Errorf("%s: HTTP %d: %s", path, resp.StatusCode, text)
		}
	}
}

// Ollama's clients load a model by asking nothing.
func TestLoading(t *testing.T) {
	m := hello(apis[0])
	url := start(t, m, backend.Config{Provider: "openai"})
	for _, path := range []string{"/api/chat", "/api/generate"} {
		if resp, body := get(t, "POST", url+path, `{"model":"m"}`); resp.StatusCode != 200 || !strings.Contains(body, `"done_reason":"load"`) || len(m.Asked()) > 0 {
			t.Errorf("%s: HTTP %d: %s", path, resp.StatusCode, body)
		}
	}
	if resp, body := get(t, "POST", url+"/api/generate", `{"model":"m","prompt":"Hi","stream":false}`); resp.StatusCode != 200 || !strings.Contains(body, `"response":"Hello there`) {
		t.Errorf("HTTP %d: %s", resp.StatusCode, body)
	}
}
