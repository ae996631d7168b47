package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bifrost "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/providers/anthropic"
	"github.com/maximhq/bifrost/core/schemas"

	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// pause is how long the model waits after its first words, so that the time to
// the first byte is not that to the last.
const pause = 3 * time.Millisecond

// model is a server with OpenAI's chat completions that answers at once, with
// size bytes of text.
func model(size int) http.Handler {
	words := strings.Repeat("The quick brown fox. ", size/21+1)[:size]
	whole := fmt.Sprintf(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}`, words)
	chunk := func(delta, finish string) string {
		return fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if !bytes.Contains(body, []byte(`"stream":true`)) { // to read all of it would cost more than a gateway
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, whole)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, chunk(`{"role":"assistant","content":"Now then, "}`, "null"))
		_ = http.NewResponseController(w).Flush()
		time.Sleep(pause)
		for i := 0; i < len(words); i += 20 {
			_, _ = io.WriteString(w, chunk(fmt.Sprintf(`{"content":%q}`, words[i:min(i+20, len(words))]), "null"))
		}
		_, _ = io.WriteString(w, chunk("{}", `"stop"`)+"data: [DONE]\n\n")
	})
}

// pool is a client that keeps connections open.
func pool() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
}

// proxied is httputil.ReverseProxy, the least that stands between.
func proxied(tb testing.TB, up string) string {
	target, err := url.Parse(up)
	if err != nil {
		tb.Fatal(err)
	}
	p := httputil.NewSingleHostReverseProxy(target)
	p.Transport, p.FlushInterval = pool().Transport, -1
	s := httptest.NewServer(p)
	tb.Cleanup(s.Close)
	return s.URL
}

// ourGateway is bx serve's handler with the time-outs, the parser and the guard
// on, as in production.
func ourGateway(tb testing.TB, up string) string {
	c, err := backend.New(backend.Config{Provider: "openai", URL: up, HTTP: pool(), OnlyOffered: true, Parse: parse.Config{Policy: parse.Policy{Unknown: parse.TextUnknown}}})
	if err != nil {
		tb.Fatal(err)
	}
	var n atomic.Int64
	g, err := gateway.New(gateway.Config{Routes: []gateway.Route{{To: []gateway.Target{{Backend: c}}}}, NewID: func() string { return fmt.Sprint(n.Add(1)) }})
	if err != nil {
		tb.Fatal(err)
	}
	s := httptest.NewServer(g)
	tb.Cleanup(s.Close)
	return s.URL
}

// account is Bifrost's configuration: one server with OpenAI's chat completions.
type account struct{ url string }

func (account) GetConfiguredProviders() ([]schemas.ModelProvider, error) {
	return []schemas.ModelProvider{schemas.Ollama}, nil
}

func (a account) GetKeysForProvider(context.Context, schemas.ModelProvider) ([]schemas.Key, error) {
	return []schemas.Key{{ID: "k", Name: "k", Value: *schemas.NewEnvVar("x"), Models: schemas.WhiteList{"*"}, Weight: 1,
		OllamaKeyConfig: &schemas.OllamaKeyConfig{URL: *schemas.NewEnvVar(a.url)}}}, nil
}

func (a account) GetConfigForProvider(schemas.ModelProvider) (*schemas.ProviderConfig, error) {
	return &schemas.ProviderConfig{
		NetworkConfig:            schemas.NetworkConfig{BaseURL: a.url, DefaultRequestTimeoutInSeconds: 30, MaxConnsPerHost: 64},
		ConcurrencyAndBufferSize: schemas.ConcurrencyAndBufferSize{Concurrency: 64, BufferSize: 256},
	}, nil
}

// theirGateway is Bifrost core with Anthropic's API in front, over net/http, the
// same server library as ours.
func theirGateway(tb testing.TB, up string) string {
	ctx := context.Background()
	b, err := bifrost.Init(ctx, schemas.BifrostConfig{Account: account{up}, Logger: bifrost.NewDefaultLogger(schemas.LogLevelError), InitialPoolSize: 64})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Shutdown)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in anthropic.AnthropicMessageRequest
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &in) != nil {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		own := schemas.NewBifrostContext(ctx, time.Time{})
		q := in.ToBifrostResponsesRequest(own)
		q.Provider, q.Model = schemas.Ollama, "m"
		resp, failed := b.ResponsesRequest(own, q)
		if failed != nil {
			http.Error(w, fmt.Sprint(failed.Error), http.StatusBadGateway)
			return
		}
		out, err := json.Marshal(anthropic.ToAnthropicResponsesResponse(own, resp))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(out)
	}))
	tb.Cleanup(s.Close)
	return s.URL
}

// ask is a request with size bytes in it, a fifth of them tools.
func ask(size int, stream bool) []byte {
	var tools []string
	for i := range 24 {
		tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":"tool_%d","description":%q,"parameters":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}}}`, i, strings.Repeat("d", size/200)))
	}
	text := strings.Repeat("Read the file and mend it. ", size*4/5/27+1)
	return fmt.Appendf(nil, `{"model":"m","stream":%v,"messages":[{"role":"user","content":%q}],"tools":[%s]}`, stream, text, strings.Join(tools, ","))
}

// claude is a request of Anthropic's API of about size bytes, half of them in 24
// tools, as agents send.
func claude(size int) []byte {
	var tools []string
	for i := range 24 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":%q,"input_schema":{"type":"object","properties":{"path":{"type":"string","description":"Where."},"limit":{"type":"integer"}},"required":["path"]}}`, i, strings.Repeat("Reads a file. ", size/48/14)))
	}
	text := strings.Repeat("Read the file and mend it. ", size/2/27)
	return fmt.Appendf(nil, `{"model":"m","max_tokens":100,"system":[{"type":"text","text":"You are an agent."}],"messages":[{"role":"user","content":[{"type":"text","text":%q}]}],"tools":[%s]}`, text, strings.Join(tools, ","))
}

// took is how long a request takes, to its first byte or to its end. On a busy
// machine ReverseProxy loses a connection now and then; that request is asked
// again.
func took(tb testing.TB, c *http.Client, url string, body []byte, first bool) time.Duration {
	for {
		d, err := once(c, url, body, first)
		if err == nil {
			return d
		}
		if tb.Log(url, err); !errors.Is(err, io.ErrUnexpectedEOF) {
			tb.Fatal(err)
		}
	}
}

func once(c *http.Client, url string, body []byte, first bool) (time.Duration, error) {
	began := time.Now()
	resp, err := c.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, errors.New(resp.Status)
	}
	var one [1]byte
	if _, err := io.ReadFull(resp.Body, one[:]); err != nil {
		return 0, err
	}
	at := time.Since(began)
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	if first {
		return at, nil
	}
	return time.Since(began), nil
}

// BenchmarkGateway adds up what stands between a client and its model, in turns
// with httputil.ReverseProxy over the same server.
func BenchmarkGateway(b *testing.B) {
	for _, bb := range []struct {
		name          string
		size          int
		stream, first bool
	}{
		{"4KB", 4 << 10, false, false}, {"150KB", 150 << 10, false, false}, {"FirstByte", 4 << 10, true, true}, {"Stream", 4 << 10, true, false},
	} {
		b.Run(bb.name, func(b *testing.B) {
			up := httptest.NewServer(model(4 << 10))
			defer up.Close()
			c, body := pool(), ask(bb.size, bb.stream)
			urls := []string{proxied(b, up.URL) + "/v1/chat/completions", ourGateway(b, up.URL) + "/v1/chat/completions"}
			times := make([][]time.Duration, len(urls))
			for range 50 {
				for _, url := range urls {
					took(b, c, url, body, bb.first)
				}
			}
			for b.Loop() {
				for i, url := range urls {
					times[i] = append(times[i], took(b, c, url, body, bb.first))
				}
			}
			for i, name := range []string{"proxy", "ours"} {
				slices.Sort(times[i])
				b.ReportMetric(float64(times[i][len(times[i])/2].Microseconds()), name+"-µs")
				b.ReportMetric(float64(times[i][len(times[i])*99/100].Microseconds()), name+"-p99-µs")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkAcross is Anthropic in front of OpenAI with 16 clients, in turns with
// Bifrost core, for a short question and for an agent's.
func BenchmarkAcross(b *testing.B) {
	for _, size := range []int{4 << 10, 76 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			up := httptest.NewServer(model(4 << 10))
			defer up.Close()
			body := claude(size)
			runs := map[string]*run{"bifrost": {url: theirGateway(b, up.URL)}, "ours": {url: ourGateway(b, up.URL)}}
			for b.Loop() {
				runs["bifrost"].round(b, body, 10)
				runs["ours"].round(b, body, 10)
			}
			for name, r := range runs {
				slices.Sort(r.rates)
				slices.Sort(r.times)
				b.ReportMetric(r.rates[len(r.rates)/2], name+"-req/s")
				b.ReportMetric(float64(r.times[len(r.times)*99/100].Milliseconds()), name+"-p99-ms")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// run is what was measured of one gateway.
type run struct {
	url   string
	rates []float64 // requests a second, by round
	times []time.Duration
}

// round is 16 clients with n requests each.
func (r *run) round(tb testing.TB, body []byte, n int) {
	c := pool()
	defer c.CloseIdleConnections()
	began := time.Now()
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 16 {
		wg.Go(func() {
			for range n {
				d := took(tb, c, r.url+"/v1/messages", body, false)
				mu.Lock()
				r.times = append(r.times, d)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	r.rates = append(r.rates, float64(16*n)/time.Since(began).Seconds())
}
