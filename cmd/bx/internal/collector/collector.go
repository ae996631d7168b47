// Package collector is an OpenTelemetry collector for tests: it takes what an
// exporter sends as Protobuf over HTTP, and keeps it.
package collector

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector serves /v1/traces and /v1/metrics, below any path. The zero value
// is ready; set Answer before it serves.
type Collector struct {
	// Answer answers a request that was kept, the first being 1. Nil: all is taken.
	Answer func(w http.ResponseWriter, n int)

	mu       sync.Mutex
	requests []Request
	traces   []*tracepb.ResourceSpans
	metrics  []*metricspb.ResourceMetrics
}

// Request is one that came. The body is unpacked.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// ServeHTTP takes a message; 400 says what is wrong with it.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := unpacked(r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, Request{r.URL.Path, r.Header, body})
	if err == nil {
		err = c.keep(r, body)
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case c.Answer != nil:
		c.Answer(w, len(c.requests))
	}
}

func unpacked(r *http.Request) ([]byte, error) {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return io.ReadAll(r.Body)
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func (c *Collector) keep(r *http.Request, body []byte) error {
	if kind := r.Header.Get("Content-Type"); kind != "application/x-protobuf" {
		return fmt.Errorf("cannot read %s", kind)
	}
	if strings.HasSuffix(r.URL.Path, "/v1/metrics") {
		var m metricspb.MetricsData
		err := proto.Unmarshal(body, &m)
		c.metrics = append(c.metrics, m.ResourceMetrics...)
		return err
	}
	var t tracepb.TracesData
	err := proto.Unmarshal(body, &t)
	c.traces = append(c.traces, t.ResourceSpans...)
	return err
}

// Requests are all that came, in order.
func (c *Collector) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Request(nil), c.requests...)
}

// Spans are all that came, in order.
func (c *Collector) Spans() (all []*tracepb.Span) {
	for _, r := range c.Traces() {
		for _, s := range r.ScopeSpans {
			all = append(all, s.Spans...)
		}
	}
	return all
}

// Traces are the spans with what sent them.
func (c *Collector) Traces() []*tracepb.ResourceSpans {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*tracepb.ResourceSpans(nil), c.traces...)
}

// Metrics are the last of each name.
func (c *Collector) Metrics() map[string]*metricspb.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]*metricspb.Metric{}
	for _, r := range c.metrics {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				all[m.Name] = m
			}
		}
	}
	return all
}
