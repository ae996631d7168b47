package backend_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// hasty answers the first request of each connection and closes it at the next,
// without a word: llama-server does so after a stream, and every server after a
// while.
func hasty(t *testing.T, body string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	serve := func(conn net.Conn) {
		defer conn.Close()
		in := bufio.NewReader(conn)
		for n := 0; ; n++ {
			r, err := http.ReadRequest(in)
			if err != nil || n > 0 {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return "http://" + l.Addr().String()
}

// A connection that the server has closed meanwhile is no failure: the request
// goes out on another one, and counts as no further try.
func TestAConnectionThatWasClosedIsNoFailure(t *testing.T) {
	const said = `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`
	c := client(t, backend.Config{Provider: backend.OpenAI, URL: hasty(t, said), Retries: -1})
	for range 3 {
		if r, err := reply(c, question()); err != nil || r.Text() != "ok" {
			t.Errorf("%q, %v", r.Text(), err)
		}
	}
	for _, body := range []string{"", `{"input":"x"}`} {
		r, err := http.NewRequest(http.MethodPost, "/v1/embeddings", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if r.Body, err = r.GetBody(); err != nil {
				t.Fatal(err)
			}
			resp, err := c.Forward(r)
			if err != nil {
				t.Errorf("forward %q: %v", body, err)
				continue
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
}

// failure asks for an error of a kind.
func failure(t *testing.T, c *backend.Client, kind backend.Kind, words ...string) *backend.Error {
	t.Helper()
	_, err := reply(c, question(search))
	var e *backend.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Fatalf("error %v, want one of kind %s", err, kind)
	}
	for _, w := range words {
		if !strings.Contains(e.Error(), w) {
			t.Errorf("%q does not say %q", e, w)
		}
	}
	return e
}

func client(t *testing.T, c backend.Config) *backend.Client {
	t.Helper()
	if c.Provider == "" {
		c.Provider = backend.Ollama
	}
	c.Model, c.Backoff = "m", time.Millisecond
	out, err := backend.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUnreachable(t *testing.T) {
	const url = "http://127.0.0.1:1" // nobody's, while a free port may be another test's by now
	failure(t, client(t, backend.Config{URL: url}), backend.Unreachable,
		"cannot reach Ollama at "+url+": connection refused; is it running? start it with `ollama serve`")
	failure(t, client(t, backend.Config{Provider: backend.OpenAI, URL: url}), backend.Unreachable, "cannot reach the server at "+url, "OPENAI_BASE_URL")
	failure(t, client(t, backend.Config{URL: url, URLFrom: "url of [backends.gpu]"}), backend.Unreachable, "is it running, and is the address right? (url of [backends.gpu])")
}

// The advice names the key where it was set.
func TestTheKeyThatIsRefused(t *testing.T) {
	script := inline(t, "-- server --\nkey: k\n-- turn --\n-- text --\nok\n")
	for from, want := range map[string]string{"": "OPENAI_API_KEY", "the variable CLOUD_KEY": "check the API key (the variable CLOUD_KEY)"} {
		r := setUp(t, script, backend.Config{Provider: backend.OpenAI, Model: "m", KeyFrom: from})
		failure(t, r.Client, backend.Refused, want)
	}
}

func TestErrorBodies(t *testing.T) {
	for _, c := range []struct {
		script, provider string
		words            []string
	}{
		{"-- server --\nmodel: other\n-- turn --\n-- text --\nok\n", backend.Ollama, []string{"HTTP 404: model 'm' not found", "`ollama pull m`"}},
		{"-- server --\nmodel: other\n-- turn --\n-- text --\nok\n", backend.OpenAI, []string{"HTTP 404: The model `m` does not exist.", "`bx status`"}},
		{"-- turn --\n-- error 400 --\nbad request\n", backend.Ollama, []string{"answered HTTP 400: bad request"}},
		{"-- server --\nkey: k\n-- turn --\n-- text --\nok\n", backend.OpenAI, []string{"HTTP 401", "check the API key"}},
		{"-- turn --\nrepeat\n-- error 500 --\nllama runner process has terminated\n", backend.Ollama, []string{"HTTP 500: llama runner process has terminated", "its log says more"}},
		{"-- turn --\nrepeat\n-- error 429 --\nslow down\n", backend.OpenAI, []string{"HTTP 429: slow down", "try again later"}},
		{"-- turn --\n-- error 429 retry-after=600 --\nquota\n", backend.OpenAI, []string{"try again in 10m0s"}},
		{"-- turn --\n-- error 400 --\n{\"error\":{\"message\":\"maximum context length is 4096\",\"code\":\"context_length_exceeded\"}}\n", backend.OpenAI, []string{"longer than the model's window"}},
		{"-- turn --\nrepeat\n-- error 502 --\n<html>Bad Gateway</html>\n", backend.OpenAI, []string{"Bad Gateway"}},
	} {
		r := setUp(t, inline(t, c.script), backend.Config{Provider: c.provider, Model: "m"})
		e := failure(t, r.Client, backend.Refused, c.words...)
		var w *wire.Error
		if !errors.As(e, &w) || w.Status == 0 {
			t.Errorf("%s: no status in %v", c.script, e)
		}
	}
}

// A server that loads its model is asked until it answers, as long as a first byte
// may take, and not at all where there are no further tries.
func TestALoadingServerIsWaitedFor(t *testing.T) {
	loading := func(n int) string {
		return fmt.Sprintf("-- server --\nkind: llamacpp\nloading: %d\n-- turn --\n-- text --\nok\n", n)
	}
	var told []string
	conf := backend.Config{Provider: backend.OpenAI, Model: "m", Waiting: func(s string) { told = append(told, s) }}
	r := setUp(t, inline(t, loading(6)), conf)
	if got := mustReply(t, r.Client, question()); got.Text() != "ok" || len(told) != 1 || !strings.HasPrefix(told[0], "the server at http://") {
		t.Errorf("%q, told %q", got.Text(), told)
	}
	failure(t, setUp(t, inline(t, loading(1000)), backend.Config{Provider: backend.OpenAI, Model: "m", Retries: -1}).Client, backend.Refused, "HTTP 503: Loading model; it answers when the model is loaded")
	conf.Timeouts.First = 50 * time.Millisecond
	if got, err := reply(setUp(t, inline(t, loading(1000)), conf).Client, question()); err == nil {
		t.Errorf("a server that never ends loading: %+v", got)
	}
}

// contract: Z-16
func TestRetries(t *testing.T) {
	r := setUp(t, script(t, "busy_then_ready"), backend.Config{Provider: backend.OpenAI})
	if got := mustReply(t, r.Client, question()); got.Text() != "Ready." {
		t.Errorf("%+v", got)
	}
	for want, retries := range map[int]int{1: -1, 2: 1, 4: 3} {
		r := setUp(t, inline(t, "-- turn --\nrepeat\n-- error 503 --\nbusy\n"), backend.Config{Retries: retries})
		failure(t, r.Client, backend.Refused, "busy")
		if got := len(r.server.Requests()); got != want {
			t.Errorf("%d further tries: %d requests, want %d", retries, got, want)
		}
	}
	once := setUp(t, inline(t, "-- turn --\nrepeat\n-- error 400 --\nbad\n"), backend.Config{})
	failure(t, once.Client, backend.Refused, "bad")
	if n := len(once.server.Requests()); n != 1 {
		t.Errorf("a bad request was sent %d times", n)
	}
}

// contract: T-04 Z-09 Z-16
func TestABrokenReplyIsAnError(t *testing.T) {
	for _, c := range []struct {
		script string
		kind   backend.Kind
		words  string
	}{
		{"cut_in_text", backend.Cut, "broke off"},
		{"cut_in_call", backend.Cut, "broke off"},
		{"stream_error", backend.Refused, "error parsing tool call"},
	} {
		for _, provider := range []string{backend.Ollama, backend.OpenAI} {
			r := setUp(t, script(t, c.script), backend.Config{Provider: provider})
			var evs []utp.Event
			var err error
			for e, bad := range r.Stream(context.Background(), question(search)) {
				if bad != nil {
					err = bad
					break
				}
				evs = append(evs, e)
			}
			got := utp.Collect(evs)
			var e *backend.Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Error(), c.words) {
				t.Errorf("%s, %s: %v", c.script, provider, err)
			}
			if len(got.Calls()) != 0 || got.Stop != utp.StopError || evs[len(evs)-1].Kind != utp.EventFinish {
				t.Errorf("%s, %s: %+v", c.script, provider, got)
			}
			if c.script == "cut_in_call" && len(got.Problems) != 1 {
				t.Errorf("%s: problems %+v", provider, got.Problems)
			}
			if n := len(r.server.Requests()); n != 1 {
				t.Errorf("%s, %s: sent %d times", c.script, provider, n)
			}
		}
	}
}

// A reply that broke off is told in one line without words of Go's, wherever the
// connection ended: between events, in the middle of one, with and without an error.
func TestAReplyThatBrokeOffIsToldInOneLine(t *testing.T) {
	for _, provider := range []string{backend.Ollama, backend.OpenAI, backend.Anthropic, backend.Gemini, backend.Responses} {
		for _, cut := range []string{"cut", "cut clean", "cut after=30", "cut after=60", "cut after=150"} {
			s := inline(t, "-- turn --\n-- text --\nHalf of an ans\n-- "+cut+" --\n")
			s.Kind = map[string]string{backend.OpenAI: "openai", backend.Responses: "openai", backend.Anthropic: "anthropic", backend.Gemini: "gemini"}[provider]
			_, err := reply(setUp(t, s, backend.Config{Provider: provider}).Client, question())
			var e *backend.Error
			if !errors.As(err, &e) || e.Kind != backend.Cut {
				t.Errorf("%s, %s: %v", provider, cut, err)
				continue
			}
			if text := e.Error(); strings.ContainsAny(text, "\n\r") || strings.Contains(text, "EOF") || !strings.Contains(text, "broke off: the stream ended before the reply was complete; ask again") {
				t.Errorf("%s, %s: %q", provider, cut, text)
			}
		}
	}
}

func TestAnEmptyReplyIsNoError(t *testing.T) {
	r := setUp(t, script(t, "empty"), backend.Config{})
	if got := mustReply(t, r.Client, question()); len(got.Parts) != 0 || got.Stop != utp.StopEnd {
		t.Errorf("%+v", got)
	}
}

func serve(t *testing.T, chat http.HandlerFunc) string {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path == "/api/show" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server notice that the client is gone
		chat(w, r)
	}))
	t.Cleanup(h.Close)
	return h.URL
}

func TestAnotherServer(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello</html>")) })
	failure(t, client(t, backend.Config{URL: url}), backend.BadReply, "<html>hello</html>", "Ollama's API")
	failure(t, client(t, backend.Config{Provider: backend.OpenAI, URL: url, Whole: true}), backend.BadReply, "an OpenAI-compatible API")
	failure(t, client(t, backend.Config{Provider: backend.OpenAI, URL: url}), backend.BadReply, "no stream of events (text/html)", "<html>hello</html>")
}

// A whole reply to a request for a stream is read, and an error told, whatever the
// header says.
func TestAWholeReplyWithoutAContentTypeIsRead(t *testing.T) {
	for _, header := range []string{"", "text/plain", "text/event-stream", "application/json"} {
		body := ` {"choices":[{"index":0,"message":{"content":"` + strings.Repeat("long ", 2000) + `"},"finish_reason":"stop"}]}`
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if header != "" {
				w.Header().Set("Content-Type", header)
			}
			_, _ = w.Write([]byte("\n"))
			w.(http.Flusher).Flush()
			_, _ = w.Write([]byte(body))
		})
		if got := mustReply(t, client(t, backend.Config{Provider: backend.OpenAI, URL: url}), question()); len(got.Text()) != 10000 || got.Stop != utp.StopEnd {
			t.Errorf("%q: %d bytes, %s", header, len(got.Text()), got.Stop)
		}
		body = `{"error":{"message":"the model is gone"}}`
		failure(t, client(t, backend.Config{Provider: backend.OpenAI, URL: url}), backend.Refused, "the model is gone")
	}
}

// What broke off is told so, what was none is not.
func TestAStreamThatBreaksOffBeforeItsFirstEvent(t *testing.T) {
	for body, kind := range map[string]backend.Kind{": ping\n\n": backend.Cut, "": backend.Cut, "Bad gateway": backend.BadReply} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
		failure(t, client(t, backend.Config{Provider: backend.OpenAI, URL: url}), kind)
	}
}

// Google's APIs say in the body how long to wait.
func TestRetryAfterInTheBody(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"error":{"message":"quota","details":[{"@type":"x"},{"retryDelay":"90s"}]}}`))
	})
	failure(t, client(t, backend.Config{URL: url}), backend.Refused, "quota", "try again in 1m30s")
}

func TestTimeouts(t *testing.T) {
	hang := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	failure(t, client(t, backend.Config{URL: hang, Timeouts: backend.Timeouts{First: 20 * time.Millisecond}}), backend.Timeout, "no answer within 20ms", "raise the timeout")
	stall := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"message":{"content":"word"},"done":false}` + "\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	failure(t, client(t, backend.Config{URL: stall, Timeouts: backend.Timeouts{Idle: 20 * time.Millisecond}}), backend.Timeout, "no more of the reply within 20ms")
}

// contract: A-07
func TestCancel(t *testing.T) {
	started := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"message":{"content":"word"},"done":false}` + "\n"))
		_ = http.NewResponseController(w).Flush()
		close(started)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-started; cancel() }()
	var last error
	for _, err := range client(t, backend.Config{URL: url}).Stream(ctx, question()) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("%v", last)
	}
	last = nil
	for _, err := range client(t, backend.Config{URL: url}).Stream(ctx, question()) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled before: %v", last)
	}
}

func TestOffline(t *testing.T) {
	offline := backend.HTTP(true, 0)
	for _, url := range []string{"http://192.0.2.1:11434", "https://api.openai.com", "http://[2001:db8::1]:80"} {
		failure(t, client(t, backend.Config{URL: url, HTTP: offline}), backend.Offline, "only this machine may be reached", "--offline")
	}
	r := setUp(t, script(t, "length"), backend.Config{HTTP: offline})
	mustReply(t, r.Client, question())
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "[::1]": true, "::1": true, "0.0.0.0": false, "localhost.example": false, "10.0.0.1": false} {
		if backend.Loopback(host) != want {
			t.Errorf("Loopback(%q) is not %v", host, want)
		}
	}
}

func TestARedirectToAnotherHostIsRefused(t *testing.T) {
	var reached atomic.Bool
	other := serve(t, func(http.ResponseWriter, *http.Request) { reached.Store(true) })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other+r.URL.Path, http.StatusTemporaryRedirect)
	})
	failure(t, client(t, backend.Config{URL: url, Retries: -1}), backend.Unreachable, "redirects to another host")
	if reached.Load() {
		t.Error("the prompt went to another host")
	}
}

func TestTheKeyIsNotRepeated(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	})
	e := failure(t, client(t, backend.Config{Provider: backend.OpenAI, URL: url, APIKey: "sk-secret"}), backend.Refused, "Incorrect API key provided: [key]")
	if strings.Contains(fmt.Sprintf("%v %+v", e, e), "sk-secret") {
		t.Error("the key is in the error")
	}
}

// What was held of a text because it might become a call is neither text nor a
// call when the reply breaks off there.
func TestABrokenReplyLetsNothingGoThatWasHeld(t *testing.T) {
	for _, held := range []string{
		"<tool_", "<tool_call>\n{\"name\": \"search_code\", \"a", "```json\n{\"name\": \"search_code\",",
	} {
		line, err := json.Marshal(map[string]any{"message": map[string]string{"content": "Let me look.\n" + held}, "done": false})
		if err != nil {
			t.Fatal(err)
		}
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(append(line, '\n'))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
		var evs []utp.Event
		var failed error
		for e, err := range client(t, backend.Config{URL: url}).Stream(context.Background(), question(search)) {
			if failed = err; err == nil {
				evs = append(evs, e)
			}
		}
		got := utp.Collect(evs)
		if !errors.Is(failed, wire.ErrCut) || strings.TrimSpace(got.Text()) != "Let me look." || len(got.Calls()) > 0 {
			t.Errorf("%q: text %q, calls %+v, %v", held, got.Text(), got.Calls(), failed)
		}
	}
}
