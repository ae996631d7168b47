package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/gateway"
)

// A collector gets every request as a span, without content.
func TestSpans(t *testing.T) {
	got := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + r.Header.Get("Authorization") + " " + string(body)
	}))
	defer collector.Close()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Basic x, a=b", "OTEL_SERVICE_NAME": "mine"}
	s := openSpans(func(name string) string { return env[name] }, collector.Client())
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan bool)
	go func() { s.run(ctx); close(ended) }()
	began := time.Unix(1e9, 0)
	for range spanBatch {
		s.observe(gateway.Report{ID: "1", API: "anthropic", Model: "claude", Target: "local", Asked: "qwen3:8b", Began: began, Took: time.Second,
			Usage: utp.Usage{Input: 7, Output: 3}, Stop: utp.StopTool, Calls: 1, FromText: 1, Status: 502, Err: errors.New("secret")})
	}
	text := <-got
	stop()
	<-ended
	path, body, _ := strings.Cut(text, " Basic x ")
	var doc otlpJSON
	if err := json.Unmarshal([]byte(body), &doc); err != nil || path != "/v1/traces" {
		t.Fatalf("%s: %v", text, err)
	}
	one := doc.Resources[0].Scopes[0].Spans[0]
	if len(doc.Resources[0].Scopes[0].Spans) != spanBatch || one.Name != "chat claude" || one.Start != "1000000000000000000" || one.End != "1000000001000000000" ||
		len(one.Trace) != 32 || len(one.ID) != 16 || one.Status.Code != 2 {
		t.Errorf("%+v", one)
	}
	for _, want := range []string{`{"key":"service.name","value":{"stringValue":"mine"}}`, `{"key":"gen_ai.request.model","value":{"stringValue":"claude"}}`,
		`{"key":"gen_ai.usage.input_tokens","value":{"intValue":"7"}}`, `{"key":"bx.calls.from_text","value":{"intValue":"1"}}`} {
		if !strings.Contains(body, want) {
			t.Errorf("want %s in %.900s", want, body)
		}
	}
	if strings.Contains(body, "secret") {
		t.Errorf("the span holds the error's words: %.900s", body)
	}
	if openSpans(func(string) string { return "" }, nil) != nil {
		t.Error("spans are sent though nobody asked")
	}
}
