package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp/gateway"
)

// spans sends reports as OpenTelemetry spans: OTLP over HTTP in JSON.
// Source: OpenTelemetry, "OTLP/HTTP", "JSON Protobuf Encoding" and the semantic
// conventions for generative AI (status: development).
type spans struct {
	url     string
	header  http.Header
	service string
	client  *http.Client
	queue   chan gateway.Report
}

// openSpans is nil where the environment names no collector.
func openSpans(env func(string) string, client *http.Client) *spans {
	url := env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := env("OTEL_EXPORTER_OTLP_ENDPOINT"); url == "" && base != "" {
		url = strings.TrimRight(base, "/") + "/v1/traces"
	}
	if url == "" || env("OTEL_SDK_DISABLED") == "true" {
		return nil
	}
	s := &spans{url: url, header: http.Header{"Content-Type": {"application/json"}}, client: client,
		service: cmp.Or(env("OTEL_SERVICE_NAME"), "bx"), queue: make(chan gateway.Report, spanQueue)}
	for pair := range strings.SplitSeq(env("OTEL_EXPORTER_OTLP_HEADERS"), ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			s.header.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return s
}

const (
	spanQueue = 1024
	spanEvery = 5 * time.Second
	spanBatch = 256
)

// observe never waits: what does not fit is dropped.
func (s *spans) observe(r gateway.Report) {
	select {
	case s.queue <- r:
	default:
	}
}

// run sends what was observed, in batches, until the context ends.
func (s *spans) run(ctx context.Context) {
	tick := time.NewTicker(spanEvery)
	defer tick.Stop()
	var batch []gateway.Report
	send := func(ctx context.Context) {
		if len(batch) > 0 {
			s.send(ctx, batch)
			batch = nil
		}
	}
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			send(last)
			return
		case r := <-s.queue:
			if batch = append(batch, r); len(batch) >= spanBatch {
				send(ctx)
			}
		case <-tick.C:
			send(ctx)
		}
	}
}

func (s *spans) send(ctx context.Context, batch []gateway.Report) {
	body, err := json.Marshal(s.document(batch))
	if err != nil {
		return
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return
	}
	req.Header = s.header.Clone()
	if resp, err := s.client.Do(req); err == nil {
		resp.Body.Close()
	}
}

type otlpJSON struct {
	Resources []resourceJSON `json:"resourceSpans"`
}

type resourceJSON struct {
	Resource struct {
		Attributes []attributeJSON `json:"attributes"`
	} `json:"resource"`
	Scopes []scopeJSON `json:"scopeSpans"`
}

type scopeJSON struct {
	Scope struct {
		Name string `json:"name"`
	} `json:"scope"`
	Spans []spanJSON `json:"spans"`
}

type spanJSON struct {
	Trace      string          `json:"traceId"`
	ID         string          `json:"spanId"`
	Name       string          `json:"name"`
	Kind       int             `json:"kind"`
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []attributeJSON `json:"attributes"`
	Status     statusJSON      `json:"status"`
}

type statusJSON struct {
	Code int `json:"code,omitempty"` // 2 is an error
}

type attributeJSON struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

func text(key, value string) attributeJSON {
	return attributeJSON{key, map[string]any{"stringValue": value}}
}

func number(key string, n int) attributeJSON {
	return attributeJSON{key, map[string]any{"intValue": strconv.Itoa(n)}}
}

func (s *spans) document(batch []gateway.Report) otlpJSON {
	r := resourceJSON{Scopes: make([]scopeJSON, 1)}
	r.Resource.Attributes = []attributeJSON{text("service.name", s.service), text("service.version", versionText())}
	r.Scopes[0].Scope.Name = "bx serve"
	for _, report := range batch {
		r.Scopes[0].Spans = append(r.Scopes[0].Spans, span(report))
	}
	return otlpJSON{[]resourceJSON{r}}
}

// kindServer is a request that was answered.
const kindServer = 2

func span(r gateway.Report) spanJSON {
	id := make([]byte, 24)
	rand.Read(id)
	out := spanJSON{Trace: hex.EncodeToString(id[:16]), ID: hex.EncodeToString(id[16:]), Name: strings.TrimSpace("chat " + r.Model), Kind: kindServer,
		Start: strconv.FormatInt(r.Began.UnixNano(), 10), End: strconv.FormatInt(r.Began.Add(r.Took).UnixNano(), 10)}
	out.Attributes = []attributeJSON{
		text("gen_ai.operation.name", "chat"), text("gen_ai.provider.name", r.Target), text("gen_ai.request.model", r.Model), text("gen_ai.response.model", r.Asked),
		number("gen_ai.usage.input_tokens", r.Usage.Prompt()), number("gen_ai.usage.output_tokens", r.Usage.Completion()),
		{"gen_ai.response.finish_reasons", map[string]any{"arrayValue": map[string]any{"values": []map[string]any{{"stringValue": string(r.Stop)}}}}},
		number("http.response.status_code", r.Status), text("bx.request.id", r.ID), text("bx.api", r.API), text("bx.client", r.Client),
		number("bx.tools", r.Tools), number("bx.calls", r.Calls), number("bx.calls.from_text", r.FromText), number("bx.fixes", len(r.Fixes)),
		number("bx.losses", len(r.Losses)), number("bx.problems", len(r.Problems)), text("bx.again", r.Again),
	}
	if r.Err != nil {
		out.Status.Code = 2
		out.Attributes = append(out.Attributes, text("error.type", fmt.Sprint(r.Status)))
	}
	return out
}
