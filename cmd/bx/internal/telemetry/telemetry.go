// Package telemetry tells an OpenTelemetry collector what bx does: a span for
// every request to a model, every turn of the agent and every tool that ran, and
// figures of their time and tokens, by the semantic conventions for generative
// AI. Nothing of a conversation's content is sent, and nothing at all unless the
// environment asks for it.
//
// The official SDK samples, batches and counts by its own variables; what it has
// made goes out from here as OTLP in JSON over HTTP, because the official
// exporter brings gRPC along: a hundred packages, and 3 MB of memory at rest.
package telemetry

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"golang.org/x/sync/errgroup"
)

// scope names the instrumentation, as the conventions ask.
const scope = "github.com/unifiedtoolprotocol/utp"

// Config is what Open needs beside the environment.
type Config struct {
	Version string       // of bx
	HTTP    *http.Client // sends; nil: http.DefaultClient
	Warn    func(string) // is told what could not be sent, each reason once; nil: nobody
}

// Telemetry takes what has happened. A nil *Telemetry takes it and does nothing.
type Telemetry struct {
	tracer trace.Tracer
	meter  instruments
	ways   []*sender
	close  []func(context.Context) error
}

// silent takes what has happened and sends nothing.
var silent = &Telemetry{tracer: noop.NewTracerProvider().Tracer(scope)}

// Open reads the environment (docs/gateway.md names the variables). Without an
// address to send to, or with OTEL_SDK_DISABLED, it gives nil and no error. An
// error names the variable that is wrong.
func Open(ctx context.Context, c Config) (*Telemetry, error) {
	set, err := environment()
	if err != nil || set.traces == nil && set.metrics == nil {
		return nil, err
	}
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	if c.Warn == nil {
		c.Warn = func(string) {}
	}
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "bx"), attribute.String("service.version", c.Version)), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	t := &Telemetry{tracer: noop.NewTracerProvider().Tracer(scope)}
	if set.traces != nil {
		p := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(spanExporter{t.sender(c, set.traces)}))
		t.tracer = p.Tracer(scope, trace.WithInstrumentationVersion(c.Version))
		t.close = append(t.close, p.Shutdown)
	}
	var provider metric.MeterProvider = sdkmetric.NewMeterProvider()
	if set.metrics != nil {
		p := sdkmetric.NewMeterProvider(sdkmetric.WithResource(about), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter),
			sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporter{t.sender(c, set.metrics), set.delta})))
		provider, t.close = p, append(t.close, p.Shutdown)
	}
	if t.meter, err = newInstruments(provider.Meter(scope, metric.WithInstrumentationVersion(c.Version))); err != nil {
		return nil, err
	}
	return t, nil
}

// Close sends what is left, until ctx ends. The error says what did not arrive.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	for _, s := range t.ways {
		s.leaving.Store(true)
	}
	var g errgroup.Group
	for _, f := range t.close {
		g.Go(func() error { return f(ctx) })
	}
	err := g.Wait()
	for _, s := range t.ways {
		if why := s.broken(); why != nil {
			return why
		}
	}
	if err != nil {
		return fmt.Errorf("telemetry could not be sent in time: %w", err)
	}
	return nil
}
