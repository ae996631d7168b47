package telemetry_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/collector"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/telemetry"
)

var began = time.Unix(1700000000, 5)

// served is a stream with calls that were found in text and mended.
func served() telemetry.Chat {
	return telemetry.Chat{
		API: "gemini", Asked: "qwen3:8b", Answered: "qwen3:8b-q4", ReplyID: "c1", Stream: true, Began: began, First: 250 * time.Millisecond, Took: 3 * time.Second,
		Usage: utp.Usage{Input: 30, CacheRead: 10, Output: 20, Reasoning: 5}, Stop: utp.StopTool,
		Native: 1, Dialects: []string{"hermes", "hermes"}, Fixes: []utp.Fix{{Path: "/city", Was: "secret", Now: "secreter", Why: "trailing comma"}},
		Problems: []utp.ProblemKind{utp.Truncated},
		Served: &telemetry.Served{ID: "R1", Parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", API: "anthropic", Client: "webui", Model: "claude-x",
			Target: "local", Tools: 2, Tries: 2, Status: 200},
	}
}

// collect starts a collector, and sets the environment to it.
func collect(t *testing.T) (*collector.Collector, *httptest.Server) {
	t.Helper()
	c := new(collector.Collector)
	to := httptest.NewServer(c)
	t.Cleanup(to.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	return c, to
}

// open opens telemetry as the environment says.
func open(t *testing.T) *telemetry.Telemetry {
	t.Helper()
	told, err := telemetry.Open(t.Context(), telemetry.Config{Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	return told
}

// shut sends what is left.
func shut(t *testing.T, told *telemetry.Telemetry) {
	t.Helper()
	if err := told.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// contract: UAT-N1
func TestChatSpan(t *testing.T) {
	c, _ := collect(t)
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	got := c.Spans()
	if len(got) != 1 {
		t.Fatalf("%d spans, want 1", len(got))
	}
	s := got[0]
	if s.Name != "chat qwen3:8b" || s.Kind != tracepb.Span_SPAN_KIND_CLIENT || s.StartTimeUnixNano != uint64(began.UnixNano()) || s.EndTimeUnixNano-s.StartTimeUnixNano != 3e9 || s.Status.GetCode() != 0 {
		t.Errorf("%v", s)
	}
	if hex.EncodeToString(s.TraceId) != "4bf92f3577b34da6a3ce929d0e0e4736" || hex.EncodeToString(s.ParentSpanId) != "00f067aa0ba902b7" || len(s.SpanId) != 8 || s.Flags&0x301 != 0x301 {
		t.Errorf("trace %x, parent %x, span %x, flags %x", s.TraceId, s.ParentSpanId, s.SpanId, s.Flags)
	}
	want := map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "gcp.gemini", "gen_ai.request.model": "qwen3:8b", "gen_ai.response.model": "qwen3:8b-q4",
		"gen_ai.response.id": "c1", "gen_ai.request.stream": true, "gen_ai.usage.input_tokens": int64(40), "gen_ai.usage.output_tokens": int64(25),
		"gen_ai.usage.cache_read.input_tokens": int64(10), "gen_ai.usage.reasoning.output_tokens": int64(5), "gen_ai.response.finish_reasons": "tool_call",
		"gen_ai.response.time_to_first_chunk": 0.25, "bx.calls": int64(3), "bx.calls.from_text": int64(2), "bx.calls.dialects": "hermes",
		"bx.fixes": int64(1), "bx.problems": int64(1), "bx.request.id": "R1", "bx.client.api": "anthropic", "bx.client.name": "webui", "bx.client.model": "claude-x",
		"bx.target": "local", "bx.tools": int64(2), "bx.tries": int64(2), "http.response.status_code": int64(200),
	}
	if got := collector.Attributes(s.Attributes); !maps.Equal(got, want) {
		t.Errorf("attributes %v,\nwant %v", got, want)
	}
	if len(s.Events) != 2 || collector.Attributes(s.Events[0].Attributes)["bx.fix.why"] != "trailing comma" || collector.Attributes(s.Events[1].Attributes)["bx.problem.kind"] != "truncated" {
		t.Errorf("events %v", s.Events)
	}
	keepsTo(t, c, "secret")
}

// keepsTo checks that what was said, or a key, did not go out.
func keepsTo(t *testing.T, c *collector.Collector, secret string) {
	t.Helper()
	for _, r := range c.Requests() {
		if strings.Contains(string(r.Body), secret) {
			t.Errorf("%q was sent: %q", secret, r.Body)
		}
	}
}

func TestResource(t *testing.T) {
	c, _ := collect(t)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	r := c.Traces()[0]
	if a := collector.Attributes(r.Resource.Attributes); a["service.name"] != "bx" || a["service.version"] != "1.2.3" || a["deployment.environment.name"] != "test" || a["telemetry.sdk.language"] != "go" {
		t.Errorf("resource %v", a)
	}
	if s := r.ScopeSpans[0].Scope; s.Name != "github.com/unifiedtoolprotocol/utp" || s.Version != "1.2.3" {
		t.Errorf("scope %v", s)
	}
}

// contract: UAT-N1
func TestChatMetrics(t *testing.T) {
	c, _ := collect(t)
	told := open(t)
	told.Chat(t.Context(), served())
	told.Chat(t.Context(), served())
	shut(t, told)
	got := c.Metrics()
	duration := got["gen_ai.client.operation.duration"].GetHistogram()
	if p := duration.GetDataPoints(); len(p) != 1 || p[0].Count != 2 || p[0].GetSum() != 6 || len(p[0].BucketCounts) != 15 || len(p[0].ExplicitBounds) != 14 ||
		duration.AggregationTemporality != metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE {
		t.Errorf("duration %v", duration)
	}
	tokens := map[any]float64{}
	for _, p := range got["gen_ai.client.token.usage"].GetHistogram().GetDataPoints() {
		tokens[collector.Attributes(p.Attributes)["gen_ai.token.type"]] = p.GetSum()
	}
	if tokens["input"] != 80 || tokens["output"] != 50 {
		t.Errorf("tokens %v", tokens)
	}
	calls := map[string]int64{}
	for _, p := range got["bx.calls"].GetSum().GetDataPoints() {
		a := collector.Attributes(p.Attributes)
		calls[fmt.Sprint(a["bx.call.source"], " ", a["bx.call.dialect"])] = p.GetAsInt()
	}
	if !maps.Equal(calls, map[string]int64{"native <nil>": 2, "text hermes": 4}) || !got["bx.calls"].GetSum().IsMonotonic {
		t.Errorf("calls %v", calls)
	}
	if p := got["bx.fixes"].GetSum().GetDataPoints(); len(p) != 1 || p[0].GetAsInt() != 2 {
		t.Errorf("fixes %v", p)
	}
	if p := got["gen_ai.client.operation.time_to_first_chunk"].GetHistogram().GetDataPoints(); len(p) != 1 || p[0].GetSum() != 0.5 {
		t.Errorf("first chunk %v", p)
	}
}

func TestFailure(t *testing.T) {
	c, _ := collect(t)
	told := open(t)
	told.Chat(t.Context(), telemetry.Chat{Asked: "m", Began: began, Failure: "429"})
	told.Chat(t.Context(), telemetry.Chat{Began: began})
	shut(t, told)
	got := c.Spans()
	if collector.Attributes(got[0].Attributes)["error.type"] != "429" || got[0].Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR || got[0].Name != "chat m" {
		t.Errorf("%v", got[0])
	}
	if collector.Attributes(got[1].Attributes)["error.type"] != nil || got[1].Status.GetCode() != 0 || got[1].Name != "chat" {
		t.Errorf("%v", got[1])
	}
	if n := len(c.Metrics()["gen_ai.client.operation.duration"].GetHistogram().GetDataPoints()); n != 2 {
		t.Errorf("%d durations, want one of a failure and one of a success", n)
	}
}
