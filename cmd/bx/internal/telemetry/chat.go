package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/record"
)

// Chat is a request to a model that is over.
type Chat struct {
	record.Reply
	ReplyID string // the model's server's
	Parent  string // the client's traceparent; the span is a child of it
	Failure string // class of the error; "": none
}

// fixes are the repairs of the calls.
func (c *Chat) fixes() (whys []string) {
	for _, call := range c.Calls {
		whys = append(whys, call.Fixes...)
	}
	return whys
}

// dialects are those of the calls in text, one a call.
func (c *Chat) dialects() (out []string) {
	for _, call := range c.Calls {
		if call.Source != utp.SourceNative {
			out = append(out, call.Source)
		}
	}
	return out
}

// instruments are the conventions' metrics, and what bx counts of its own.
type instruments struct {
	took, first  metric.Float64Histogram
	tokens       metric.Int64Histogram
	calls, fixes metric.Int64Counter
}

// Bounds that the conventions ask for.
var (
	secondBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds  = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

func newInstruments(m metric.Meter) (i instruments, err error) {
	var errs [5]error
	i.took, errs[0] = m.Float64Histogram("gen_ai.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("GenAI operation duration."), metric.WithExplicitBucketBoundaries(secondBounds...))
	i.first, errs[1] = m.Float64Histogram("gen_ai.client.operation.time_to_first_chunk", metric.WithUnit("s"),
		metric.WithDescription("Time to the first chunk of a stream."), metric.WithExplicitBucketBoundaries(secondBounds...))
	i.tokens, errs[2] = m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"),
		metric.WithDescription("Number of input and output tokens used."), metric.WithExplicitBucketBoundaries(tokenBounds...))
	i.calls, errs[3] = m.Int64Counter("bx.calls", metric.WithUnit("{call}"),
		metric.WithDescription("Tool calls, by where they were found: native, or the dialect of text."))
	i.fixes, errs[4] = m.Int64Counter("bx.fixes", metric.WithUnit("{fix}"), metric.WithDescription("Repairs of tool calls."))
	return i, errors.Join(errs[:]...)
}

// providers are the conventions' names for the APIs.
var providers = map[string]string{"responses": "openai", "gemini": "gcp.gemini"}

func providerName(api string) string {
	if name := providers[api]; name != "" {
		return name
	}
	return api
}

// finishReasons are the conventions' words for why a reply ended.
var finishReasons = map[utp.Stop]string{
	utp.StopEnd: "stop", utp.StopSequence: "stop", utp.StopTool: "tool_call", utp.StopLength: "length",
	utp.StopFilter: "content_filter", utp.StopError: "error", utp.StopBadCall: "error",
}

// list makes attributes; empty ones are left out.
type list []attribute.KeyValue

func (l *list) text(key, value string) {
	if value != "" {
		*l = append(*l, attribute.String(key, value))
	}
}

func (l *list) count(key string, n int) {
	if n > 0 {
		*l = append(*l, attribute.Int(key, n))
	}
}

// Chat takes a request of which there is nothing more to say.
func (t *Telemetry) Chat(ctx context.Context, c Chat) {
	if t == nil || t == silent {
		return
	}
	if c.Parent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": c.Parent})
	}
	over := c.Time.Add(c.Took.Duration())
	ctx, span := t.tracer.Start(ctx, nameOf("chat", c.Asked), trace.WithTimestamp(c.Time), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(c.attributes()...))
	for _, why := range c.fixes() {
		span.AddEvent("bx.fix", trace.WithTimestamp(over), trace.WithAttributes(attribute.String("bx.fix.why", why)))
	}
	for _, p := range c.Problems {
		span.AddEvent("bx.problem", trace.WithTimestamp(over), trace.WithAttributes(attribute.String("bx.problem.kind", string(p.Kind))))
	}
	if c.Failure != "" {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(over))
	c.measure(ctx, t.meter)
}

func nameOf(operation, of string) string {
	if of == "" {
		return operation
	}
	return operation + " " + of
}

// common are the attributes of spans and of metrics.
func (c *Chat) common() list {
	l := list{attribute.String("gen_ai.operation.name", "chat")}
	l.text("gen_ai.provider.name", providerName(c.Speaks))
	l.text("gen_ai.request.model", c.Asked)
	l.text("gen_ai.response.model", c.Answered)
	return l
}

func (c *Chat) attributes() list {
	l := append(c.common(), attribute.Bool("gen_ai.request.stream", c.Stream))
	l.text("error.type", c.Failure)
	l.text("gen_ai.response.id", c.ReplyID)
	l = append(l, spent(c.Usage, c.Stop)...)
	if c.Stream && c.First > 0 {
		l = append(l, attribute.Float64("gen_ai.response.time_to_first_chunk", c.First.Duration().Seconds()))
	}
	dialects := c.dialects()
	if n := len(c.Calls); n > 0 {
		l = append(l, attribute.Int("bx.calls", n), attribute.Int("bx.calls.from_text", len(dialects)))
	}
	if len(dialects) > 0 {
		l = append(l, attribute.StringSlice("bx.calls.dialects", distinct(dialects)))
	}
	l.count("bx.fixes", len(c.fixes()))
	l.count("bx.problems", len(c.Problems))
	if c.By == record.ByServe {
		l = append(l, c.served()...)
	}
	return l
}

// served are the attributes of a client's request to the gateway.
func (c *Chat) served() (l list) {
	losses := 0
	for _, lost := range c.Losses {
		losses += lost.Count
	}
	l.text("bx.request.id", c.ID)
	l.text("bx.client.api", c.API)
	l.text("bx.client.name", c.Client)
	l.text("bx.client.model", c.Route)
	l.text("bx.target", c.Backend)
	l.text("bx.again", c.Again)
	l.count("bx.tools", c.Tools)
	l.count("bx.losses", losses)
	l.count("bx.tries", c.Tries)
	l.count("http.response.status_code", c.Status)
	return l
}

// spent is what a reply cost and why it ended.
func spent(u utp.Usage, stop utp.Stop) (l list) {
	l.count("gen_ai.usage.input_tokens", u.Prompt())
	l.count("gen_ai.usage.output_tokens", u.Completion())
	l.count("gen_ai.usage.cache_read.input_tokens", u.CacheRead)
	l.count("gen_ai.usage.cache_creation.input_tokens", u.CacheWrite)
	l.count("gen_ai.usage.reasoning.output_tokens", u.Reasoning)
	if stop != "" {
		reason := finishReasons[stop]
		if reason == "" {
			reason = string(stop)
		}
		l = append(l, attribute.StringSlice("gen_ai.response.finish_reasons", []string{reason}))
	}
	return l
}

// distinct keeps the first of equal words.
func distinct(words []string) (out []string) {
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			seen[w], out = true, append(out, w)
		}
	}
	return out
}

func (c *Chat) measure(ctx context.Context, m instruments) {
	common := c.common()
	failed := append(list(nil), common...)
	failed.text("error.type", c.Failure)
	m.took.Record(ctx, c.Took.Duration().Seconds(), metric.WithAttributes(failed...))
	if c.Stream && c.First > 0 {
		m.first.Record(ctx, c.First.Duration().Seconds(), metric.WithAttributes(common...))
	}
	for kind, n := range map[string]int{"input": c.Usage.Prompt(), "output": c.Usage.Completion()} {
		if n > 0 {
			m.tokens.Record(ctx, int64(n), metric.WithAttributes(common...), metric.WithAttributes(attribute.String("gen_ai.token.type", kind)))
		}
	}
	count := func(counter metric.Int64Counter, n int, more ...attribute.KeyValue) {
		if n > 0 {
			counter.Add(ctx, int64(n), metric.WithAttributes(common...), metric.WithAttributes(more...))
		}
	}
	dialects := c.dialects()
	count(m.calls, len(c.Calls)-len(dialects), attribute.String("bx.call.source", "native"))
	for _, d := range dialects {
		count(m.calls, 1, attribute.String("bx.call.source", "text"), attribute.String("bx.call.dialect", d))
	}
	count(m.fixes, len(c.fixes()))
}
