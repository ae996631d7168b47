package gateway_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// A report says in which dialects the calls were found, who answered, and which
// trace of the client's the request belongs to.
// contract: UAT-N1
func TestReport(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	calls := `<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>` + "\n\n" +
		"<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>"
	m := newModel(apiNamed("ollama"), func(int, *utp.Request) []utp.Event { return says(calls) })
	for _, stream := range []bool{false, true} {
		over := make(chan gateway.Report, 1)
		url := start(t, m, backend.Config{Provider: "ollama"}, func(c *gateway.Config) { c.Observe = func(got gateway.Report) { over <- got } })
		apiNamed("anthropic").post(t, url, offer(stream), "Traceparent", parent)
		r := <-over
		if len(r.Calls) != 2 || r.Calls[0].Source != "hermes" || r.Calls[1].Source != "qwen3-coder" {
			t.Errorf("stream %v: calls %+v", stream, r.Calls)
		}
		if r.API != "anthropic" || r.Speaks != "ollama" || r.Asked != "m" || r.Answered != "m" || r.Parent != parent {
			t.Errorf("stream %v: %+v", stream, r)
		}
	}
}

// leaver is a client that leaves as soon as it has the last event.
type leaver struct {
	http.ResponseWriter
	last  string
	leave func()
}

func (l leaver) Write(b []byte) (int, error) {
	if strings.Contains(string(b), l.last) {
		defer l.leave()
	}
	return l.ResponseWriter.Write(b)
}

func (l leaver) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// A client that leaves when it has all was answered: Codex does.
func TestLeavingWithTheLastEvent(t *testing.T) {
	for name, last := range map[string]string{"openai": "[DONE]", "responses": "response.completed", "anthropic": "message_stop"} {
		var got gateway.Report
		up, _ := target(t, "up", "ollama")
		g, err := gateway.New(gateway.Config{NewID: ids(), Routes: []gateway.Route{{To: []gateway.Target{up}}},
			Observe: func(r gateway.Report) { got = r }})
		if err != nil {
			t.Fatal(err)
		}
		x, err := apiNamed(name).back.Open(offer(true))
		if err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		g.ServeHTTP(leaver{httptest.NewRecorder(), last, leave}, httptest.NewRequestWithContext(ctx, "POST", "http://127.0.0.1"+x.Path, strings.NewReader(string(x.Body))))
		if ctx.Err() == nil || got.Status != http.StatusOK || got.Err != nil {
			t.Errorf("%s: left %v, status %d, %v", name, ctx.Err() != nil, got.Status, got.Err)
		}
	}
}

// What a server says of a piece of text, such as its logprobs, reaches a client
// of the same API, whether the text is read for calls or not.
func TestLogprobsOfAStream(t *testing.T) {
	const logprobs = `"logprobs":{"content":[{"token":"Hi","logprob":-0.25}]}`
	up := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(`data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"It is a greeting, "}}]}` +
			"\n\n" + `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"Hi"},` + logprobs + `}]}` +
			"\n\n" + `data: {"id":"1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"))
	})
	url := start(t, up, backend.Config{Provider: "openai", Formats: natively})
	for _, q := range []*utp.Request{offer(true), {Model: "m", Stream: true, Messages: offer(true).Messages}} {
		if _, body := apiNamed("openai").post(t, url, q); strings.Count(string(body), `Hi"},"finish_reason":null,`+logprobs) != 1 {
			t.Errorf("%d tools: %s", len(q.Tools), body)
		}
		if _, body := apiNamed("anthropic").post(t, url, q); strings.Contains(string(body), "logprob") {
			t.Errorf("another API: %s", body)
		}
	}
}
