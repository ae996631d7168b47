// Package telemetry tells an OpenTelemetry collector what bx does: a span for
// every request to a model, every turn of the agent and every tool that ran, and
// figures of their time and tokens, by the semantic conventions for generative
// AI. Nothing of a conversation's content is sent, and nothing at all unless the
// environment asks for it.
//
// The official SDK samples, batches and counts by its own variables, and its
// exporters send that as OTLP over HTTP.
package telemetry

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// scope names the instrumentation, as the conventions ask.
const scope = "github.com/unifiedtoolprotocol/utp"

// Config is what Open needs beside the environment.
type Config struct {
	Version string       // of bx
	HTTP    *http.Client // sends; nil: http.DefaultClient
	Warn    func(string) // is told what could not be sent, each reason once; nil: Close gives it
}

// Telemetry takes what has happened. A nil *Telemetry takes it and does nothing.
type Telemetry struct {
	tracer trace.Tracer
	meter  instruments
	close  []func(context.Context) error
	warn   func(string)

	mu     sync.Mutex
	over   bool
	told   map[string]bool // reasons
	untold []error
}

// Open reads the environment (docs/gateway.md names the variables). Without an
// address to send to, or with OTEL_SDK_DISABLED, it gives nil and no error. An
// error names the variable that is wrong. The SDK tells of errors in one place
// for a whole program: that is the Telemetry opened last.
func Open(ctx context.Context, c Config) (*Telemetry, error) {
	if strings.EqualFold(strings.TrimSpace(os.Getenv("OTEL_SDK_DISABLED")), "true") {
		return nil, nil
	}
	traces, err := placeOf("traces")
	if err != nil {
		return nil, err
	}
	metrics, err := placeOf("metrics")
	if err != nil || traces.url == "" && metrics.url == "" {
		return nil, err
	}
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	t := &Telemetry{warn: c.Warn, told: map[string]bool{}}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(t.tell))
	otel.SetLogger(logr.Discard()) // it would print variables with their values
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "bx"), attribute.String("service.version", c.Version)), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	if err := errors.Join(t.openTraces(ctx, c, traces, about), t.openMetrics(ctx, c, metrics, about)); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Telemetry) openTraces(ctx context.Context, c Config, to place, about *resource.Resource) error {
	t.tracer = noop.NewTracerProvider().Tracer(scope)
	if to.url == "" {
		return nil
	}
	e, err := to.spans(ctx, c.HTTP)
	if err != nil {
		return err
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(e))
	t.tracer, t.close = p.Tracer(scope, trace.WithInstrumentationVersion(c.Version)), append(t.close, p.Shutdown)
	return nil
}

func (t *Telemetry) openMetrics(ctx context.Context, c Config, to place, about *resource.Resource) error {
	options := []sdkmetric.Option{sdkmetric.WithResource(about), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)}
	if to.url != "" {
		e, err := to.figures(ctx, c.HTTP)
		if err != nil {
			return err
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(e)))
	}
	p := sdkmetric.NewMeterProvider(options...)
	t.close = append(t.close, p.Shutdown)
	meter, err := newInstruments(p.Meter(scope, metric.WithInstrumentationVersion(c.Version)))
	t.meter = meter
	return err
}

// tell is told by the SDK what went wrong.
func (t *Telemetry) tell(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	why := "telemetry could not be sent: " + reason(err)
	if t.over || t.told[why] {
		return
	}
	if t.told[why] = true; t.warn == nil {
		t.untold = append(t.untold, errors.New(why))
		return
	}
	t.warn(why)
}

// Close sends what is left, until ctx ends. The error is what could not be sent,
// unless Config.Warn was told.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	var g sync.WaitGroup
	for _, f := range t.close {
		g.Go(func() {
			if err := f(ctx); err != nil {
				t.tell(err)
			}
		})
	}
	g.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	return errors.Join(t.untold...)
}
