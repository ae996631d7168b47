package telemetry

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// retry fits into what is left when bx ends: the exporters' own begins with 5 s.
var retry = otlptracehttp.RetryConfig{Enabled: true, InitialInterval: 500 * time.Millisecond, MaxInterval: 5 * time.Second, MaxElapsedTime: 10 * time.Second}

func (p place) spans(ctx context.Context, client *http.Client) (*otlptrace.Exporter, error) {
	return otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(p.url), otlptracehttp.WithHTTPClient(p.client(client)), otlptracehttp.WithRetry(retry))
}

func (p place) figures(ctx context.Context, client *http.Client) (*otlpmetrichttp.Exporter, error) {
	return otlpmetrichttp.New(ctx, otlpmetrichttp.WithEndpointURL(p.url), otlpmetrichttp.WithHTTPClient(p.client(client)),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig(retry)))
}

// client is a client of this place's patience.
func (p place) client(c *http.Client) *http.Client {
	own := *c
	if own.Transport == nil {
		own.Transport = http.DefaultTransport
	}
	own.Transport, own.Timeout = discreet{own.Transport}, p.within
	return &own
}

// discreet puts the status in the place of what a server says with a refusal,
// which the exporters would tell, and in which it may repeat a key.
type discreet struct{ http.RoundTripper }

// RoundTrip sends a request.
func (d discreet) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(r)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		resp.Body.Close()
		resp.Body = io.NopCloser(strings.NewReader(resp.Status))
	}
	return resp, err
}

// reason says in a line why something was not sent, the same for both signals
// and without the port of ours, which is another each time. Of addresses it tells
// the host alone: a key may be in the path.
func reason(err error) string {
	text := err.Error()
	var asked *url.Error
	if errors.As(err, &asked) {
		text = asked.Err.Error()
	}
	var op *net.OpError
	if errors.As(err, &op) {
		plain := *op
		plain.Source = nil
		text = plain.Error()
	}
	words := strings.Fields(text)
	for i, w := range words {
		if u, err := url.Parse(strings.Trim(w, `":`)); err == nil && u.Host != "" {
			words[i] = u.Host + ":"
		}
	}
	return strings.Join(words, " ")
}
