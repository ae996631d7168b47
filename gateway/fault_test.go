package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/internal/fake"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// fault is a way in which a server behind the gateway goes wrong. status is what
// the client is told when nothing was said before; 0 is a reply that is good so
// far and ends in an error.
type fault struct {
	name   string
	up     http.HandlerFunc
	status int
	after  string // Retry-After
}

const (
	chunkText  = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello, this will take a while. "},"finish_reason":null}]}` + "\n\n"
	chunkCall  = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\": \"Pa"}}]},"finish_reason":null}]}` + "\n\n"
	chunkRest  = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ris\"}"}}]},"finish_reason":null}]}` + "\n\n"
	chunkStop  = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	chunkTools = `data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	done       = "data: [DONE]\n\n"
)

func stream(pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			if p == "cut" {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, p)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func refusal(status int, message, after string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q,"type":"x"}}`, message)
	}
}

// What a client is told depends on its API where a native call breaks off: it has
// seen the beginning of the call, or nothing if its calls come in one piece.
const (
	inCall = 1 // and a whole reply is refused
	asText = 2 // and a whole reply has the words of the call
)

// inOnePiece are the APIs whose calls are.
var inOnePiece = map[string]bool{"gemini": true, "ollama": true}

var faults = []fault{
	{"400", refusal(400, "max_tokens is too large", ""), 400, ""},
	{"401: the gateway's own key", refusal(401, "Incorrect API key provided: sk-verysecret123", ""), 502, ""},
	{"404", refusal(404, "no such model", ""), 404, ""},
	{"429", refusal(429, "slow down", "40"), 429, "40"},
	{"500", refusal(500, "CUDA error", ""), 500, ""},
	{"529", refusal(529, "overloaded", ""), 503, ""},
	{"context overflow", refusal(400, "maximum context length is 10 tokens", ""), 400, ""},
	{"cut before anything", stream("cut"), 502, ""},
	{"cut in a text", stream(chunkText, "cut"), 0, ""},
	{"polite end in a text", stream(chunkText), 0, ""},
	{"cut in a call", stream(chunkCall, "cut"), inCall, ""},
	{"polite end in a call", stream(chunkText, chunkCall), 0, ""},
	{"cut between calls", stream(chunkCall, chunkRest, "cut"), 0, ""},
	{"stop in a call", stream(chunkCall, chunkTools, done), asText, ""},
	{"an error in the stream", stream(chunkText, "data: {\"error\":{\"message\":\"out of memory\"}}\n\n"), 0, ""},
	{"garbage", stream("<html>nginx</html>\n\n"), 502, ""},
	{"garbage after text", stream(chunkText, "data: <html>\n\n"), 0, ""},
	{"half a character", stream(chunkText, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xe2\x82", "cut"), 0, ""},
	{"a line of 20 MB", stream(chunkText, "data: "+strings.Repeat("x", 20<<20)+"\n\n"), 0, ""},
}

// offer asks for a call of get_weather in the API's own form, as a stream or not.
func offer(stream bool) *utp.Request {
	n := 100
	return &utp.Request{Model: "m", Stream: stream, Tools: tools, Params: utp.Params{MaxTokens: &n},
		Messages: []utp.Message{utp.NewText(utp.RoleUser, "What is the weather?")}}
}

// errorWords are what an error of the API looks like: in a body, at the end of a
// stream that nobody need ask for again, and at that of one that broke.
var errorWords = map[string][3]string{
	"openai":    {`{"error":{"message":`, `data: {"error":{"message":`, dropped},
	"responses": {`{"error":{"message":`, `event: response.failed`, `event: response.failed`},
	"anthropic": {`{"type":"error","error":{"type":`, "event: error\ndata: {\"type\":\"error\"", dropped},
	"gemini":    {`{"error":{"code":`, `data: {"error":{"code":`, `data: {"error":{"code":`},
	"ollama":    {`{"error":"`, `{"error":"`, `{"error":"`},
}

// goodEnds are what a reply of the API ends with that is whole.
var goodEnds = map[string]string{
	"openai": "[DONE]", "responses": "response.completed", "anthropic": "message_stop", "gemini": `"finishReason"`, "ollama": `"done":true`,
}

// TestFaults sees every fault from every API, whole and streamed: one error in
// the client's own form, no good end, no call that was cut, no key.
func TestFaults(t *testing.T) {
	for _, f := range faults {
		leavesNothing(t, f.name, func(t *testing.T) {
			url := start(t, f.up, backend.Config{Provider: "openai", APIKey: "sk-verysecret123", Retries: -1, Formats: natively})
			for _, a := range apis {
				for _, stream := range []bool{false, true} {
					f.check(t, a, url, stream)
				}
			}
		})
	}
}

func (f fault) check(t *testing.T, a api, url string, stream bool) {
	t.Helper()
	resp, body := a.post(t, url, offer(stream))
	if f.status == asText && !stream {
		reply, err := a.read(t, offer(false), resp, body)
		if err != nil || !strings.Contains(reply.Text(), `get_weather {"city": "Pa`) || len(reply.Calls()) > 0 {
			t.Errorf("%s: %+v, %v", a.name, reply, err)
		}
		return
	}
	if f.status == inCall || f.status == asText {
		if f.status = 0; stream && inOnePiece[a.name] {
			f.status = http.StatusBadGateway
		}
	}
	if f.status == 0 && stream && a.name == "ollama" && resp.StatusCode == http.StatusBadGateway {
		f.status = http.StatusBadGateway // its calls wait for those that come with them
	}
	told, end := errorWords[a.name][0], ""
	if f.status == 0 && stream {
		told, end = errorWords[a.name][2], goodEnds[a.name]
	}
	bad := strings.Count(body, told) != 1 || end != "" && strings.Contains(body, end) || strings.Contains(body, "verysecret")
	status := resp.StatusCode
	if a.name == "anthropic" && status == 529 { // its own word for 503
		status = 503
	}
	switch {
	case f.status != 0:
		bad = bad || status != f.status || resp.Header.Get("Retry-After") != f.after
	case stream:
		bad = bad || status != http.StatusOK
	default:
		bad = bad || status < 500
	}
	if bad {
		t.Errorf("%s, stream %v: HTTP %d, Retry-After %q: %.700s", a.name, stream, resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
	if a.name != "openai" || !stream {
		return
	}
	if strings.Contains(body, `finish_reason":"`) {
		t.Errorf("the stream has a good end: %s", body)
	}
}

// Each API's own words for an error, and its own silence, come to the clients of
// all: an error in their form, with the status and the pause, and nothing is left.
func TestFaultsOfEveryAPI(t *testing.T) {
	for _, back := range apis {
		for _, refused := range []int{400, 404, 429, 500, 503} {
			leavesNothing(t, fmt.Sprintf("%s, %d", back.name, refused), func(t *testing.T) {
				_, body := back.front.Error(&wire.Error{Status: refused, Message: "not now, sk-verysecret123"})
				up := func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					w.Header().Set("Retry-After", "40")
					w.WriteHeader(refused)
					_, _ = w.Write(body)
				}
				url := start(t, http.HandlerFunc(up), backend.Config{Provider: back.name, Retries: -1, Formats: natively})
				f := fault{status: refused, after: "40"}
				for _, front := range apis {
					f.check(t, front, url, false)
					f.check(t, front, url, true)
				}
			})
		}
		leavesNothing(t, back.name+", garbage", func(t *testing.T) {
			url := start(t, stream("<html>nginx</html>\n\n"), backend.Config{Provider: back.name, Retries: -1, Formats: natively})
			for _, front := range apis {
				fault{status: 502}.check(t, front, url, false)
				fault{status: 502}.check(t, front, url, true)
			}
		})
		leavesNothing(t, back.name+", silence in a reply", func(t *testing.T) {
			m := newModel(back, func(int, *utp.Request) []utp.Event { return says("Hello, this will take a while.") })
			url := start(t, stuck(m), backend.Config{Provider: back.name, Retries: -1, Formats: natively, Timeouts: backend.Timeouts{Idle: 20 * time.Millisecond}})
			for _, front := range apis {
				fault{}.check(t, front, url, true)
				if resp, body := front.post(t, url, offer(false)); resp.StatusCode != 504 || !strings.Contains(body, errorWords[front.name][0]) {
					t.Errorf("%s: HTTP %d: %s", front.name, resp.StatusCode, body)
				}
			}
		})
	}
}

// stuck gives all but the end of a model's streams, and half of what is whole.
func stuck(m *fake.API) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		m.ServeHTTP(rec, r)
		body := rec.Body.Bytes()
		w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
		if r.Method != http.MethodPost || r.URL.Path == "/api/show" {
			_, _ = w.Write(body)
			return
		}
		_, _ = w.Write(body[:len(body)*6/10])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func TestNobodyThere(t *testing.T) { leavesNothing(t, "connection refused", nobodyThere) }

func nobodyThere(t *testing.T) {
	const address = "127.0.0.1:1" // a port that was free a moment ago may be the gateway's own by now
	client, err := backend.New(backend.Config{Provider: "openai", URL: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	url := listen(t, gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Backend: client}}}}, NewID: func() string { return "1" }})
	for _, a := range apis {
		if resp, body := a.post(t, url, offer(true)); resp.StatusCode != 502 || !strings.Contains(body, "cannot reach the server at http://"+address) {
			t.Errorf("%s: HTTP %d: %s", a.name, resp.StatusCode, body)
		}
	}
}

func TestSilence(t *testing.T) { leavesNothing(t, "no answer", silence) }

func silence(t *testing.T) {
	gone := make(chan bool)
	up := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-gone:
		case <-r.Context().Done():
		}
	})
	url := start(t, up, backend.Config{Provider: "openai", Formats: natively, Retries: -1, Timeouts: backend.Timeouts{First: 20 * time.Millisecond}})
	defer close(gone)
	for _, a := range apis {
		if resp, body := a.post(t, url, offer(false)); resp.StatusCode != 504 || !strings.Contains(body, "no answer within 20ms") {
			t.Errorf("%s: HTTP %d: %s", a.name, resp.StatusCode, body)
		}
	}
}

// A reply that ends twice ends once for the client, and a good reply with
// "stop" in place of "tool_calls" is one with a call.
func TestEnds(t *testing.T) {
	url := start(t, stream(chunkCall, chunkRest, chunkStop, chunkStop, done, chunkText, done), backend.Config{Provider: "openai", Formats: natively})
	for _, a := range apis {
		reply, err := a.ask(t, url, offer(true))
		if err != nil || len(reply.Calls()) != 1 || strings.ReplaceAll(string(reply.Calls()[0].Args), " ", "") != `{"city":"Paris"}` || reply.Text() != "" {
			t.Errorf("%s: %+v, %v", a.name, reply, err)
		}
		if _, body := a.post(t, url, offer(true)); strings.Count(body, goodEnds[a.name]) > 2 {
			t.Errorf("%s: the reply ends more than once: %s", a.name, body)
		}
	}
}

// cutting is where a stream ends, in tenths, and whether the server says so.
type cutting struct {
	at     int
	polite bool
}

// TestCutAnywhere cuts the streams of every API at many places, politely and
// not: the client gets an error in its own form, or every call whole.
func TestCutAnywhere(t *testing.T) {
	args := `{"city":"` + strings.Repeat("Paris ", 20) + `"}`
	for name, evs := range map[string][]utp.Event{
		"native": says("Let me look at it first, then.", utp.Call{ID: "call_1", Name: "get_weather", Args: []byte(args)}),
		"text":   says("Let me look at it first, then.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + args + "}\n</tool_call>"),
	} {
		t.Run(name, func(t *testing.T) { cutAnywhere(t, evs, args) })
	}
}

func cutAnywhere(t *testing.T, evs []utp.Event, args string) {
	t.Helper()
	for _, back := range apis {
		m := newModel(back, func(int, *utp.Request) []utp.Event { return evs })
		var cut atomic.Pointer[cutting]
		url := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec, c := httptest.NewRecorder(), cut.Load()
			m.ServeHTTP(rec, r)
			body := rec.Body.Bytes()
			if r.Method == http.MethodPost && r.URL.Path != "/api/show" {
				body = body[:len(body)*c.at/10]
			}
			w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
			_, _ = w.Write(body)
			if _ = http.NewResponseController(w).Flush(); len(body) < rec.Body.Len() && !c.polite {
				panic(http.ErrAbortHandler)
			}
		}), backend.Config{Provider: back.name, Formats: natively, Retries: -1})
		for at := 1; at < 10; at++ {
			for _, polite := range []bool{false, true} {
				cut.Store(&cutting{at, polite})
				for _, front := range apis {
					if reply, err := front.ask(t, url, offer(false)); err == nil {
						t.Errorf("%s behind %s, cut at %d/10, polite %v: a whole reply: %+v", back.name, front.name, at, polite, reply)
					}
					reply, err := front.ask(t, url, offer(true))
					for _, c := range reply.Calls() {
						if err == nil && string(c.Args) != args {
							t.Errorf("%s behind %s, cut at %d/10, polite %v: call %s", back.name, front.name, at, polite, c.Args)
						}
					}
					if err == nil && (len(reply.Calls()) == 0 || at < 7) {
						t.Errorf("%s behind %s, cut at %d/10, polite %v: a good end: %+v", back.name, front.name, at, polite, reply)
					}
				}
			}
		}
	}
}

// What a client says of its model comes into no header as a line of its own.
func TestHeadersCannotBeInjected(t *testing.T) {
	url := start(t, hello(apis[0]), backend.Config{Provider: "openai"}, func(c *gateway.Config) { c.Explain = true })
	q := offer(false)
	q.Model = "m\r\nX-Evil: 1"
	resp, body := apis[0].post(t, url, q)
	if resp.StatusCode != 200 || resp.Header.Get("X-Evil") != "" || resp.Header.Get("X-Bx-Model") != "m??X-Evil: 1" {
		t.Errorf("HTTP %d: %v: %s", resp.StatusCode, resp.Header, body)
	}
}
