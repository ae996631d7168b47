package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
)

// sleeper notes how long a gateway wanted to wait, and does not.
type sleeper struct {
	mu     sync.Mutex
	pauses []time.Duration
}

func (s *sleeper) sleep(_ context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pauses = append(s.pauses, d)
	return nil
}

// counted counts the requests for a reply.
type counted struct {
	http.Handler
	n atomic.Int32
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.URL.Path != "/api/show" {
		c.n.Add(1)
	}
	c.Handler.ServeHTTP(w, r)
}

// routed is a gateway with a route to targets: the first, and those where it fails.
func routed(t *testing.T, s *sleeper, to gateway.Target, other ...gateway.Target) (url string) {
	t.Helper()
	return listen(t, gateway.Config{NewID: ids(), Sleep: s.sleep, Routes: []gateway.Route{{To: []gateway.Target{to}, Else: other}}})
}

func say(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// A server that answers 200 with something else than a reply is left for the
// next, for whole replies and streams, and broken off for a while.
func TestNonsenseGoesToTheFallback(t *testing.T) {
	good, _ := target(t, "good", "openai")
	const half = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hel`
	nothing := `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}]}`
	for _, tt := range []struct {
		name string
		up   http.HandlerFunc
	}{
		{"garbage", say("text/event-stream", "\x00\x01\x02 what?\n\n")},
		{"garbage as JSON", say("application/json", "\x00\x01\x02 what?")},
		{"HTML", say("text/html", "<html><body>Log in</body></html>")},
		{"an empty body", say("application/json", "")},
		{"an empty stream", stream()},
		{"a reply cut in the middle", say("application/json", half)},
		{"a stream cut after the role", stream(`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`+"\n\n", "cut")},
		{"an error after the role", stream(`data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`+"\n\n", `data: {"error":{"message":"out of memory"}}`+"\n\n")},
		{"a reply without a word", say("application/json", nothing)},
		{"a stream without a word", stream(chunkStop, done)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, front := range apis {
				for _, streamed := range []bool{false, true} {
					bad := &counted{Handler: tt.up}
					url := routed(t, new(sleeper), behind(t, "bad", "openai", bad), good)
					for range 7 {
						reply, err := front.ask(t, url, offer(streamed))
						if err != nil || reply.Text() != "This is good as m." {
							t.Fatalf("%s, stream %v: %q, %v", front.name, streamed, reply.Text(), err)
						}
					}
					if n := bad.n.Load(); n != 5 {
						t.Errorf("%s, stream %v: asked %d times, want 5 and then a break", front.name, streamed, n)
					}
				}
			}
		})
	}
}

// A whole reply that breaks off, of which a client has seen nothing however much
// has come, is asked for elsewhere; so is a stream whose words are still held.
func TestWhatNobodyHasSeenGoesToTheFallback(t *testing.T) {
	good, _ := target(t, "good", "openai")
	half := strings.Replace(chunkText, "Hello, this will take a while. ", `<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"ci`, 1)
	url := routed(t, new(sleeper), behind(t, "bad", "openai", stream(half, "cut")), good)
	whole := routed(t, new(sleeper), behind(t, "bad", "openai", stream(chunkText, chunkText, "cut")), good)
	for _, front := range apis {
		if reply, err := front.ask(t, url, offer(true)); err != nil || reply.Text() != "This is good as m." {
			t.Errorf("%s: %q, %v", front.name, reply.Text(), err)
		}
		if reply, err := front.ask(t, whole, offer(false)); err != nil || reply.Text() != "This is good as m." {
			t.Errorf("%s, whole: %q, %v", front.name, reply.Text(), err)
		}
	}
}

// With another target left nobody waits for one that wants a pause, and it is
// left alone until the pause is over.
func TestFallbackDoesNotWaitForRetryAfter(t *testing.T) {
	good, _ := target(t, "good", "openai")
	for _, status := range []int{429, 503} {
		slow, s, c := &counted{Handler: refusal(status, "slow down", "7")}, new(sleeper), &clock{}
		to := behind(t, "slow", "openai", slow)
		to.Retries = 2
		url := listen(t, gateway.Config{NewID: ids(), Sleep: s.sleep, Now: c.now, Routes: []gateway.Route{{To: []gateway.Target{to}, Else: []gateway.Target{good}}}})
		for range 3 {
			if reply, err := apis[0].ask(t, url, offer(true)); err != nil || reply.Text() != "This is good as m." {
				t.Errorf("%d: %q, %v", status, reply.Text(), err)
			}
		}
		if n := slow.n.Load(); n != 1 || len(s.pauses) > 0 {
			t.Errorf("%d: asked %d times with pauses of %v; want once and none", status, n, s.pauses)
		}
		c.pass(8 * time.Second)
		if _, err := apis[0].ask(t, url, offer(true)); err != nil || slow.n.Load() != 2 {
			t.Errorf("%d: after the pause: %v, asked %d times", status, err, slow.n.Load())
		}
	}
}

// What an SDK repeats is not repeated here: with the tries of both, a request
// comes to a target three times.
func TestTriesAreNotMultiplied(t *testing.T) {
	for _, status := range []int{429, 500, 503, 529} {
		for _, front := range apis {
			up, s := &counted{Handler: refusal(status, "not now", "2")}, new(sleeper)
			to := behind(t, "up", "openai", up)
			to.Retries = 0
			url := routed(t, s, to)
			resp, _ := front.post(t, url, offer(false), "X-Stainless-Retry-Count", "0")
			if h := resp.Header; up.n.Load() != 1 || len(s.pauses) > 0 || h.Get("Retry-After") != "2" || h.Get("Retry-After-Ms") != "2000" || h.Get("X-Should-Retry") != "" {
				t.Errorf("%s, %d, an SDK: asked %d times with pauses of %v: %v", front.name, status, up.n.Load(), s.pauses, h)
			}
			up.n.Store(0)
			resp, _ = front.post(t, url, offer(false))
			if h := resp.Header; up.n.Load() != 3 || fmt.Sprint(s.pauses) != "[2s 2s]" || h.Get("X-Should-Retry") != "false" || resp.StatusCode < 429 {
				t.Errorf("%s, %d: asked %d times with pauses of %v: %v", front.name, status, up.n.Load(), s.pauses, h)
			}
		}
	}
	for agent, want := range map[string]int32{"codex_exec/0.169.0 (Debian)": 1, "GeminiCLI-tui/0.61.0/m (linux)": 1, "opencode/1.18.33 ai-sdk/provider-utils/4.0.23": 1, "google-genai-sdk/1.30.0": 3, "ollama-python/0.6.1": 3} {
		up := &counted{Handler: refusal(500, "not now", "")}
		to := behind(t, "up", "openai", up)
		to.Retries = 0
		apis[0].post(t, routed(t, new(sleeper), to), offer(false), "User-Agent", agent)
		if got := up.n.Load(); got != want {
			t.Errorf("%s: asked %d times, want %d", agent, got, want)
		}
	}
}

// llama-server closes its connections behind streams, without a word: the next
// request is none that failed.
func TestClosedConnectionsAreNoFailures(t *testing.T) {
	s, err := fake.Parse("llama", []byte("-- server --\nkind: llamacpp\nmodel: m\n-- turn --\nrepeat\n-- text --\nok\n"))
	if err != nil {
		t.Fatal(err)
	}
	url := routed(t, new(sleeper), behind(t, "llama", "openai", fake.New(s)))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				if resp, body := apis[0].post(t, url, offer(true), "X-Stainless-Retry-Count", "0"); resp.StatusCode != 200 {
					t.Errorf("HTTP %d: %s", resp.StatusCode, body)
				}
			}
		})
	}
	all.Wait()
}

// A server that pauses longer than anybody waits, or cannot do it at all, is not
// asked again, and what mends itself on another try is.
func TestAnotherTryAtTheSameTarget(t *testing.T) {
	for _, tt := range []struct {
		name   string
		up     http.HandlerFunc
		tries  int32
		status int
		vain   string // X-Should-Retry
	}{
		{"a long pause", refusal(429, "slow down", "600"), 1, 429, ""},
		{"for good", refusal(500, "image input is not supported", ""), 1, 500, "false"},
		{"the request is wrong", refusal(400, "no", ""), 1, 400, ""},
		{"garbage", say("text/event-stream", "what?\n\n"), 3, 502, "false"},
		{"cut", stream("cut"), 3, 502, "false"},
		{"cut in a call", stream(strings.Replace(chunkText, "Hello, this will take a while. ", `<tool_call>\n{\"name\": \"get_weather\", \"arg`, 1), "cut"), 3, 502, "false"},
		{"cut after words", stream(chunkText, "cut"), 1, 200, ""},
	} {
		up := &counted{Handler: tt.up}
		to := behind(t, "up", "openai", up)
		to.Retries = 0
		resp, body := apis[0].post(t, routed(t, new(sleeper), to), offer(true))
		if up.n.Load() != tt.tries || resp.StatusCode != tt.status || resp.Header.Get("X-Should-Retry") != tt.vain {
			t.Errorf("%s: asked %d times, want %d: HTTP %d, %v, %s", tt.name, up.n.Load(), tt.tries, resp.StatusCode, resp.Header, body)
		}
	}
	n := atomic.Int32{}
	to := behind(t, "up", "openai", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) < 3 {
			stream("cut")(w, r)
			return
		}
		stream(chunkText, chunkStop, done)(w, r)
	}))
	to.Retries = 0
	if reply, err := apis[2].ask(t, routed(t, new(sleeper), to), offer(true)); err != nil || !strings.HasPrefix(reply.Text(), "Hello") {
		t.Errorf("at the third try: %+v, %v", reply, err)
	}
}

// A backend that does not take the gateway's key is its operator's business: the
// error says so and SDKs do not ask again.
func TestABackendsKeyIsTheOperators(t *testing.T) {
	for _, status := range []int{401, 402, 403} {
		for _, front := range apis {
			for _, streamed := range []bool{false, true} {
				up := &counted{Handler: refusal(status, "Incorrect API key provided", "")}
				to := behind(t, "up", "openai", up)
				to.Retries = 0
				resp, body := front.post(t, routed(t, new(sleeper), to), offer(streamed))
				if resp.StatusCode != 502 || resp.Header.Get("X-Should-Retry") != "false" || up.n.Load() != 1 ||
					!strings.Contains(body, "key_env or key_file in serve.toml") || strings.Contains(body, "OPENAI_API_KEY") {
					t.Errorf("%s, %d: HTTP %d, %v, asked %d times: %s", front.name, status, resp.StatusCode, resp.Header, up.n.Load(), body)
				}
			}
		}
	}
}

// One model of a backend that fails says nothing about the others.
func TestBreakersAreByModel(t *testing.T) {
	m := newModel(apis[0], func(_ int, q *utp.Request) []utp.Event { return says("This is a as " + q.Model + ".") })
	a := behind(t, "a", "openai", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || strings.Contains(string(body), `"broken"`) {
			refusal(500, "broken", "")(w, r)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		m.ServeHTTP(w, r)
	}))
	good, _ := target(t, "good", "openai")
	url := routed(t, new(sleeper), a, good)
	ask := func(model string) string {
		q := offer(false)
		q.Model = model
		reply, err := apis[0].ask(t, url, q)
		if err != nil {
			t.Fatal(err)
		}
		return reply.Text()
	}
	for range 6 {
		if got := ask("broken"); got != "This is good as broken." {
			t.Errorf("%q", got)
		}
	}
	if got := ask("m"); got != "This is a as m." {
		t.Errorf("%q", got)
	}
}

// A breaker is as the target says.
func TestBreakerIsSet(t *testing.T) {
	good, _ := target(t, "good", "openai")
	for failures, want := range map[int]int32{2: 2, -1: 8} {
		up, c := &counted{Handler: refusal(500, "broken", "")}, &clock{}
		to := behind(t, "bad", "openai", up)
		to.Breaker = gateway.Breaker{Failures: failures, Pause: time.Minute}
		url := listen(t, gateway.Config{NewID: ids(), Now: c.now, Routes: []gateway.Route{{To: []gateway.Target{to}, Else: []gateway.Target{good}}}})
		for range 8 {
			apis[0].post(t, url, offer(false))
		}
		c.pass(50 * time.Second)
		apis[0].post(t, url, offer(false))
		if failures < 0 {
			want++
		}
		if got := up.n.Load(); got != want {
			t.Errorf("failures = %d: asked %d times, want %d", failures, got, want)
		}
		c.pass(11 * time.Second)
		if apis[0].post(t, url, offer(false)); up.n.Load() != want+1 {
			t.Errorf("failures = %d: after the pause asked %d times, want %d", failures, up.n.Load(), want+1)
		}
	}
}

// Targets that are all left alone are asked all the same.
func TestNobodyIsLeftAloneForNothing(t *testing.T) {
	a, b := &counted{Handler: refusal(429, "slow down", "60")}, &counted{Handler: refusal(429, "slow down", "60")}
	url := routed(t, new(sleeper), behind(t, "a", "openai", a), behind(t, "b", "openai", b))
	for range 3 {
		if resp, _ := apis[0].post(t, url, offer(true)); resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "60" {
			t.Errorf("HTTP %d, %v", resp.StatusCode, resp.Header)
		}
	}
	if a.n.Load() != 3 || b.n.Load() != 3 {
		t.Errorf("asked %d and %d times", a.n.Load(), b.n.Load())
	}
}

// A heartbeat would make a stream of what may yet be refused with a status: it
// waits while what has come is held, but not for ever.
func TestHeartbeatWaitsForWhatIsHeld(t *testing.T) {
	half := strings.Replace(chunkText, "Hello, this will take a while. ", `<tool_call>\n{\"name\": \"get_weather\", \"arg`, 1)
	goOn := make(chan bool)
	ask := func(every time.Duration, wait func()) int {
		up := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				http.NotFound(w, r)
				return
			}
			stream(half)(w, r)
			wait()
			panic(http.ErrAbortHandler)
		})
		url := start(t, up, backend.Config{Provider: "openai", Retries: -1, Formats: natively}, func(c *gateway.Config) { c.Limits.Heartbeat = every })
		x, err := apis[1].back.Open(offer(true))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.Post(url+x.Path, "application/json", bytes.NewReader(x.Body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if status := ask(300*time.Millisecond, func() { time.Sleep(400 * time.Millisecond) }); status != 502 {
		t.Errorf("a heartbeat went out: HTTP %d", status)
	}
	if status := ask(5*time.Millisecond, func() { <-goOn }); status != 200 {
		t.Errorf("no heartbeat ever: HTTP %d", status)
	}
	close(goOn)
}

// TestBrokenAtEveryByte breaks a stream of 2 KB with a call in its text at every
// byte, for the clients of every API. Nobody sees markup or a good end without
// the call; whoever has seen nothing gets a status that clients ask again for, or
// the answer of the next target.
func TestBrokenAtEveryByte(t *testing.T) {
	const words = "Let me look at the weather first, then."
	call := `<tool_call>` + "\n" + `{"name": "get_weather", "arguments": {"city":"` + strings.Repeat("Paris ", 16) + `"}}` + "\n</tool_call>"
	for name, text := range map[string]string{"words before": words + "\n" + call, "a call alone": call} {
		step := 1
		if text == call { // all but the words is as before
			step = 7
		}
		t.Run(name, func(t *testing.T) { brokenAtEveryByte(t, words, inPieces(t, text), step) })
	}
}

// inPieces is the stream of a text, about 2 KB of it.
func inPieces(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for len(text) > 0 {
		n := min(7, len(text))
		piece, err := json.Marshal(text[:n])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, `data: {"choices":[{"index":0,"delta":{"content":%s}}]}`+"\n\n", piece)
		text = text[n:]
	}
	return b.String() + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" + done
}

// breaking answers with the beginning of a stream, in the process itself.
type breaking struct {
	whole string
	at    int
}

func (b *breaking) RoundTrip(r *http.Request) (*http.Response, error) {
	body := io.Reader(strings.NewReader(b.whole[:b.at]))
	if b.at < len(b.whole) {
		body = io.MultiReader(body, iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body), Request: r}, nil
}

// inProcess is a target without a network.
func inProcess(t *testing.T, name string, way http.RoundTripper) gateway.Target {
	t.Helper()
	c, err := backend.New(backend.Config{Provider: "openai", URL: "http://" + name + ".example", OnlyOffered: true, Formats: natively, HTTP: &http.Client{Transport: way}})
	if err != nil {
		t.Fatal(err)
	}
	return gateway.Target{Name: name, Backend: c, Retries: -1, Breaker: gateway.Breaker{Failures: -1}}
}

// asked is the answer of a handler without a network.
func asked(t *testing.T, h http.Handler, front api) (*http.Response, string) {
	t.Helper()
	x, err := front.back.Open(offer(true))
	if err != nil {
		t.Fatal(err)
	}
	r, rec := httptest.NewRequest(http.MethodPost, "http://localhost"+x.Path, bytes.NewReader(x.Body)), httptest.NewRecorder()
	for k, v := range x.Header {
		r.Header.Set(k, v)
	}
	func() {
		defer func() {
			if why := recover(); why != nil && why != http.ErrAbortHandler {
				t.Errorf("%s: %v", front.name, why)
			}
		}()
		h.ServeHTTP(rec, r)
	}()
	return rec.Result(), rec.Body.String()
}

func brokenAtEveryByte(t *testing.T, words, whole string, step int) {
	way := &breaking{whole: whole}
	bad, good := inProcess(t, "bad", way), inProcess(t, "good", &breaking{chunkText + chunkStop + done, len(chunkText + chunkStop + done)})
	for i, others := range [][]gateway.Target{nil, {good}} {
		g, err := gateway.New(gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{bad}, Else: others}}})
		if err != nil {
			t.Fatal(err)
		}
		for way.at = 0; way.at <= len(whole); way.at += step {
			for j, front := range apis {
				if (way.at/step+i+j)%2 == 1 && way.at < len(whole) { // every byte for every API, with another target or without
					continue
				}
				resp, body := asked(t, g, front)
				reply, err := front.read(t, offer(true), resp, body)
				if wrong := amiss(words, resp.StatusCode, body, reply, err, others != nil); wrong != "" {
					t.Fatalf("%s, %d of %d bytes, another target %v: %s: HTTP %d: %s", front.name, way.at, len(whole), others != nil, wrong, resp.StatusCode, body)
				}
			}
		}
	}
}

// amiss says what is wrong with the answer of a client whose backend broke off.
func amiss(words string, status int, body string, reply utp.Reply, err error, backed bool) string {
	text, calls := strings.TrimSpace(reply.Text()), reply.Calls()
	whole := len(calls) == 1 && strings.HasPrefix(string(calls[0].Args), `{"city":"Paris`)
	switch {
	case strings.Contains(body, "tool_call>") || strings.ContainsAny(text, "<{"):
		return "markup"
	case err == nil && (whole || backed && strings.HasPrefix(text, "Hello")):
		return ""
	case err == nil:
		return "a good end"
	case status != http.StatusOK && (backed || status != http.StatusBadGateway):
		return "a status that helps nobody"
	case status == http.StatusOK && text == "" && !strings.Contains(body, "get_weather"):
		return "nothing was seen, and a stream began"
	case !strings.HasPrefix(words, text):
		return "other words"
	}
	return ""
}
