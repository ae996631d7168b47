package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	bifrost "github.com/maximhq/bifrost/core"
	"github.com/maximhq/bifrost/core/providers/anthropic"
	"github.com/maximhq/bifrost/core/schemas"

	"github.com/unifiedtoolprotocol/utp/bench/process"
)

// pause is how long the model waits after its first words, so that the time to
// the first byte is not that to the last.
const pause = 3 * time.Millisecond

// size is how much text the model answers, in bytes.
const size = 4 << 10

// beModel is a server with OpenAI's chat completions that answers at once.
func beModel() error {
	words := strings.Repeat("The quick brown fox. ", size/21+1)[:size]
	whole := fmt.Sprintf(`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":20,"total_tokens":30}}`, words)
	chunk := func(delta, finish string) string {
		return fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	}
	return process.Listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
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
	}))
}

// pool is a client that keeps connections open.
func pool() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
}

// beProxy is httputil.ReverseProxy, the least that stands between.
func beProxy(up string) error {
	target, err := url.Parse(up)
	if err != nil {
		return err
	}
	p := httputil.NewSingleHostReverseProxy(target)
	p.Transport, p.FlushInterval = pool().Transport, -1
	p.ErrorLog = log.New(io.Discard, "", 0) // of the connections that it loses
	return process.Listen(p)
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

// beBifrost is Bifrost core with Anthropic's API in front, over net/http, the
// same server library as ours.
func beBifrost(up string) error {
	ctx := context.Background()
	b, err := bifrost.Init(ctx, schemas.BifrostConfig{Account: account{up}, Logger: bifrost.NewDefaultLogger(schemas.LogLevelError), InitialPoolSize: 64})
	if err != nil {
		return err
	}
	defer b.Shutdown()
	return process.Listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
}
