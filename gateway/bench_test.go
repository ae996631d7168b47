package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/journal"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// canned is a server that answers at once with the same, without a network.
type canned struct {
	kind  string
	reply []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	var err error
	if r.Body != nil {
		_, err = io.Copy(io.Discard, r.Body)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {c.kind}}, ContentLength: int64(len(c.reply)),
		Body: io.NopCloser(bytes.NewReader(c.reply)), Request: r}, err
}

// benchRequest is a request of an API with about size bytes and 24 tools.
func benchRequest(api string, size int, stream bool) string {
	tool := `{"type":"function","function":{"name":"tool_%d","description":%q,"parameters":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}}}`
	body := `{"model":"m","stream":%v,"messages":[{"role":"user","content":%q}],"tools":[%s]}`
	if api == "anthropic" {
		tool = `{"name":"tool_%d","description":%q,"input_schema":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}}`
		body = `{"model":"m","max_tokens":100,"stream":%v,"messages":[{"role":"user","content":[{"type":"text","text":%q}]}],"tools":[%s]}`
	}
	var tools []string
	for i := range 24 {
		tools = append(tools, fmt.Sprintf(tool, i, strings.Repeat("d", size/48)))
	}
	return fmt.Sprintf(body, stream, strings.Repeat("Read the file and mend it. ", size/2/27), strings.Join(tools, ","))
}

// BenchmarkExchange is a request on its way through the gateway, without the
// network on either side.
func BenchmarkExchange(b *testing.B) {
	words := strings.Repeat("The quick brown fox. ", 195)
	whole := canned{"application/json", fmt.Appendf(nil, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}`, words)}
	var frames strings.Builder
	for i := 0; i < len(words); i += 21 {
		fmt.Fprintf(&frames, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":null}]}\n\n", words[i:i+21])
	}
	stream := canned{"text/event-stream", []byte(frames.String() + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")}
	for _, bb := range []struct {
		name, api string
		size      int
		up        canned
	}{
		{"4KB", "openai", 4 << 10, whole}, {"150KB", "openai", 150 << 10, whole}, {"Stream", "openai", 4 << 10, stream},
		{"Across4KB", "anthropic", 4 << 10, whole}, {"Across150KB", "anthropic", 150 << 10, whole}, {"AcrossStream", "anthropic", 4 << 10, stream},
	} {
		b.Run(bb.name, func(b *testing.B) {
			g := benchGateway(b, bb.up, nil)
			path, body := "/v1/chat/completions", benchRequest(bb.api, bb.size, bb.up.kind != "application/json")
			if bb.api == "anthropic" {
				path = "/v1/messages"
			}
			b.ReportAllocs()
			for b.Loop() {
				askOnce(b, g, path, body)
			}
		})
	}
}

// benchGateway is a gateway in front of a canned server.
func benchGateway(b *testing.B, up canned, observe func(gateway.Report)) *gateway.Gateway {
	client, err := backend.New(backend.Config{Provider: "openai", URL: "http://127.0.0.1:1", HTTP: &http.Client{Transport: up},
		OnlyOffered: true, Parse: parse.Config{Policy: parse.Policy{Unknown: parse.TextUnknown}}, Formats: natively})
	if err != nil {
		b.Fatal(err)
	}
	g, err := gateway.New(gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Name: "up", Backend: client}}}}, NewID: func() string { return "1" },
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Observe: observe})
	if err != nil {
		b.Fatal(err)
	}
	return g
}

func askOnce(b *testing.B, g *gateway.Gateway, path, body string) {
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	w := httptest.NewRecorder()
	if g.ServeHTTP(w, r); w.Code != http.StatusOK {
		b.Fatal(w.Body)
	}
}

// BenchmarkStore compares the gateway with and without the store of events, in
// pairs of 2,000 requests each: how much longer it takes with it, in percent, and
// the interval that holds the true difference with 95 %. Run it with at least
// -benchtime=20x.
func BenchmarkStore(b *testing.B) {
	up := canned{"application/json", []byte(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}`)}
	w := journal.New(journal.Options{Dir: b.TempDir(), Program: "serve", Held: 256, Keep: journal.Events})
	sides := [2]*gateway.Gateway{benchGateway(b, up, nil), benchGateway(b, up, func(r gateway.Report) { w.Append(r.Reply) })}
	body := benchRequest("openai", 4<<10, false)
	var sum, squares float64
	pairs := 0
	for b.Loop() {
		var took [2]time.Duration
		for k := range 2 {
			side := (k + pairs) % 2 // each goes first as often as the other
			began := time.Now()
			for range 2000 {
				askOnce(b, sides[side], "/v1/chat/completions", body)
			}
			took[side] = time.Since(began)
		}
		more := 100 * (float64(took[1])/float64(took[0]) - 1)
		sum, squares, pairs = sum+more, squares+more*more, pairs+1
	}
	_ = w.Close()
	n := float64(pairs)
	mean := sum / n
	half := 2.1 * math.Sqrt(max(0, squares/n-mean*mean)/max(1, n-1)) // Student's t for 20 pairs
	b.ReportMetric(mean, "%more")
	b.ReportMetric(mean-half, "%low")
	b.ReportMetric(mean+half, "%high")
	b.ReportMetric(n, "pairs")
}
