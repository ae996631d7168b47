package telemetry_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/agent"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/telemetry"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/wire"
)

var began = time.Unix(1700000000, 5)

// served is a stream with calls that were found in text and mended.
var about = telemetry.About{Model: record.Reply{Speaks: "ollama"}}

func served() telemetry.Chat {
	return telemetry.Chat{Reply: record.Reply{
		ID: "R1", By: record.ByServe, API: "anthropic", Client: "webui", Route: "claude-x", Backend: "local", Speaks: "gemini", Asked: "qwen3:8b", Answered: "qwen3:8b-q4",
		Stream: true, Time: began, First: 250_000, Took: 3_000_000, Tools: 2, Tries: 2, Status: 200,
		Usage: utp.Usage{Input: 30, CacheRead: 10, Output: 20, Reasoning: 5}, Stop: utp.StopTool,
		Calls:    []record.Call{{Source: utp.SourceNative}, {Source: "hermes", Fixes: []string{"trailing comma"}}, {Source: "hermes"}},
		Problems: []record.Problem{{Kind: utp.ProblemTruncated}},
	}, ReplyID: "c1", Parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
}

// contract: UAT-N1
func TestChatSpan(t *testing.T) {
	c := collect(t)
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	got := c.spans()
	if len(got) != 1 {
		t.Fatalf("%d spans, want 1", len(got))
	}
	s := got[0]
	if s.Name != "chat qwen3:8b" || s.Kind != 3 || s.Start != began.UnixNano() || s.took() != 3*time.Second || s.Status.Code != 0 {
		t.Errorf("%+v", s)
	}
	if s.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || s.ParentSpanID != "00f067aa0ba902b7" || len(s.SpanID) != 16 || s.Flags != 0x301 {
		t.Errorf("trace %s, parent %s, span %s, flags %x", s.TraceID, s.ParentSpanID, s.SpanID, s.Flags)
	}
	want := attributes{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "gcp.gemini", "gen_ai.request.model": "qwen3:8b", "gen_ai.response.model": "qwen3:8b-q4",
		"gen_ai.response.id": "c1", "gen_ai.request.stream": true, "gen_ai.usage.input_tokens": "int 40", "gen_ai.usage.output_tokens": "int 25",
		"gen_ai.usage.cache_read.input_tokens": "int 10", "gen_ai.usage.reasoning.output_tokens": "int 5", "gen_ai.response.finish_reasons": "tool_call",
		"gen_ai.response.time_to_first_chunk": 0.25, "bx.calls": "int 3", "bx.calls.from_text": "int 2", "bx.calls.dialects": "hermes",
		"bx.fixes": "int 1", "bx.problems": "int 1", "bx.request.id": "R1", "bx.client.api": "anthropic", "bx.client.name": "webui", "bx.client.model": "claude-x",
		"bx.target": "local", "bx.tools": "int 2", "bx.tries": "int 2", "http.response.status_code": "int 200",
	}
	if !maps.Equal(s.Attributes, want) {
		t.Errorf("attributes %v,\nwant %v", s.Attributes, want)
	}
	if len(s.Events) != 2 || s.Events[0].Attributes["bx.fix.why"] != "trailing comma" || s.Events[1].Attributes["bx.problem.kind"] != "truncated" {
		t.Errorf("events %v", s.Events)
	}
	if all := strings.Join(c.bodies, ""); strings.Contains(all, "secret") {
		t.Errorf("content was sent: %s", all)
	}
}

func TestResource(t *testing.T) {
	c := collect(t)
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	r := c.got[0].ResourceSpans[0]
	if a := r.Resource.Attributes; a["service.name"] != "bx" || a["service.version"] != "1.2.3" || a["deployment.environment.name"] != "test" || a["telemetry.sdk.language"] != "go" {
		t.Errorf("resource %v", a)
	}
	if s := r.ScopeSpans[0].Scope; s.Name != "github.com/unifiedtoolprotocol/utp" || s.Version != "1.2.3" {
		t.Errorf("scope %v", s)
	}
}

// contract: UAT-N1
func TestChatMetrics(t *testing.T) {
	c := collect(t)
	told := open(t)
	told.Chat(t.Context(), served())
	told.Chat(t.Context(), served())
	shut(t, told)
	got := c.figures()
	duration := got["gen_ai.client.operation.duration"].Histogram
	if p := duration.DataPoints; len(p) != 1 || p[0].Count != "2" || p[0].Sum != 6 || len(p[0].BucketCounts) != 15 || len(p[0].ExplicitBounds) != 14 || duration.AggregationTemporality != 2 {
		t.Errorf("duration %+v", duration)
	}
	tokens := map[any]float64{}
	for _, p := range got["gen_ai.client.token.usage"].Histogram.DataPoints {
		tokens[p.Attributes["gen_ai.token.type"]] = p.Sum
	}
	if tokens["input"] != 80 || tokens["output"] != 50 {
		t.Errorf("tokens %v", tokens)
	}
	calls := map[string]string{}
	for _, p := range got["bx.calls"].Sum.DataPoints {
		dialect, _ := p.Attributes["bx.call.dialect"].(string)
		calls[p.Attributes["bx.call.source"].(string)+" "+dialect] = p.AsInt
	}
	if !maps.Equal(calls, map[string]string{"native ": "2", "text hermes": "4"}) || !got["bx.calls"].Sum.IsMonotonic {
		t.Errorf("calls %v", calls)
	}
	if p := got["bx.fixes"].Sum.DataPoints; len(p) != 1 || p[0].AsInt != "2" {
		t.Errorf("fixes %+v", p)
	}
	if p := got["gen_ai.client.operation.time_to_first_chunk"].Histogram.DataPoints; len(p) != 1 || p[0].Sum != 0.5 {
		t.Errorf("first chunk %+v", p)
	}
}

func TestFailure(t *testing.T) {
	c := collect(t)
	told := open(t)
	told.Chat(t.Context(), telemetry.Chat{Reply: record.Reply{Asked: "m", Time: began}, Failure: "429"})
	told.Chat(t.Context(), telemetry.Chat{Reply: record.Reply{Time: began}})
	shut(t, told)
	got := c.spans()
	if got[0].Attributes["error.type"] != "429" || got[0].Status.Code != 2 || got[0].Name != "chat m" {
		t.Errorf("%+v", got[0])
	}
	if got[1].Attributes["error.type"] != nil || got[1].Status.Code != 0 || got[1].Name != "chat" {
		t.Errorf("%+v", got[1])
	}
	if n := len(c.figures()["gen_ai.client.operation.duration"].Histogram.DataPoints); n != 2 {
		t.Errorf("%d durations, want one of a failure and one of a success", n)
	}
}

// turn is a turn with one call found in text, one refused, and an answer.
func turn(err error) iter.Seq2[agent.Event, error] {
	call := &utp.Call{ID: "c1", Name: "search", Source: "text:hermes", Fixes: []utp.Fix{{Why: "single quotes"}}}
	other := &utp.Call{ID: "c2", Name: "rm", Source: utp.SourceNative}
	finish := func(stop utp.Stop) agent.Event {
		return agent.Event{Kind: agent.Stream, Model: &utp.Event{Kind: utp.EventFinish, End: &utp.End{Stop: stop, Model: "m-1", Usage: utp.Usage{Input: 7, Output: 3}}}}
	}
	events := []agent.Event{
		{Kind: agent.Round}, {Kind: agent.Parsed, Call: call}, {Kind: agent.Parsed, Call: other}, finish(utp.StopTool),
		{Kind: agent.Started, Call: call}, {Kind: agent.Failed, Call: other, Refusal: agent.AboveTier}, {Kind: agent.Succeeded, Call: call},
		{Kind: agent.Round}, {Kind: agent.Text, Text: "private"}, finish(utp.StopEnd),
		{Kind: agent.Final, Answer: &agent.Answer{Text: "private", Rounds: 1, Usage: utp.Usage{Input: 14, Output: 6}, Stop: utp.StopEnd}},
	}
	return func(yield func(agent.Event, error) bool) {
		for i, e := range events {
			if err != nil && i == 8 {
				yield(agent.Event{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestTurn(t *testing.T) {
	c := collect(t)
	told := open(t)
	n := 0
	for _, err := range told.Turn(t.Context(), about, &utp.Request{Model: "m", Stream: true}, turn(nil)) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	shut(t, told)
	by := map[string][]span{}
	for _, s := range c.spans() {
		by[s.Name] = append(by[s.Name], s)
	}
	if n != 11 || len(by["invoke_agent bx"]) != 1 || len(by["chat m"]) != 2 || len(by["execute_tool search"]) != 1 || len(by["execute_tool rm"]) != 1 {
		t.Fatalf("%d events, spans %v", n, by)
	}
	root := by["invoke_agent bx"][0]
	for _, s := range c.spans() {
		if s.TraceID != root.TraceID || s.Name != root.Name && s.ParentSpanID != root.SpanID {
			t.Errorf("%s is not below the turn", s.Name)
		}
	}
	if a := root.Attributes; a["gen_ai.usage.input_tokens"] != "int 14" || a["gen_ai.provider.name"] != "ollama" || a["bx.rounds"] != "int 1" {
		t.Errorf("turn %v", a)
	}
	if a := by["chat m"][0].Attributes; a["bx.calls.dialects"] != "hermes" || a["bx.calls"] != "int 2" || a["bx.fixes"] != "int 1" || a["gen_ai.response.model"] != "m-1" || a["gen_ai.usage.output_tokens"] != "int 3" {
		t.Errorf("chat %v", a)
	}
	if a := by["execute_tool search"][0].Attributes; a["gen_ai.tool.call.id"] != "c1" || a["error.type"] != nil {
		t.Errorf("tool %v", a)
	}
	if a := by["execute_tool rm"][0].Attributes; a["error.type"] != "tier" {
		t.Errorf("refused tool %v", a)
	}
	if all := strings.Join(c.bodies, ""); strings.Contains(all, "private") {
		t.Errorf("content was sent: %s", all)
	}
}

// A turn that fails, or whose reader leaves, leaves no span open.
func TestTurnThatEndsEarly(t *testing.T) {
	for name, want := range map[string]string{"fails": "500", "left": ""} {
		t.Run(name, func(t *testing.T) {
			c := collect(t)
			told := open(t)
			for e, err := range told.Turn(t.Context(), about, &utp.Request{Model: "m"}, turn(&wire.Error{Status: 500})) {
				if name == "left" && e.Kind == agent.Started || err != nil {
					break
				}
			}
			shut(t, told)
			var names []string
			for _, s := range c.spans() {
				if names = append(names, s.Name); s.Name == "invoke_agent bx" {
					if class, _ := s.Attributes["error.type"].(string); class != want {
						t.Errorf("class %q, want %q", class, want)
					}
				}
			}
			if !slices.Contains(names, "invoke_agent bx") || !slices.Contains(names, "chat m") || !slices.Contains(names, "execute_tool search") {
				t.Errorf("spans %q", names)
			}
		})
	}
}

// Without a place to send to nothing is made, and taking it does no harm.
func TestNothingIsSent(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"no variable": {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
		"disabled":    {"OTEL_SDK_DISABLED": "True"},
		"none":        {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			c := collect(t)
			for k, v := range env {
				t.Setenv(k, v)
			}
			told := open(t)
			if told != nil {
				t.Error("telemetry is on")
			}
			told.Chat(t.Context(), served())
			for range told.Turn(t.Context(), about, &utp.Request{}, turn(nil)) {
			}
			shut(t, told)
			if len(c.seen) > 0 {
				t.Errorf("%d requests", len(c.seen))
			}
		})
	}
}

func TestWhereAndHow(t *testing.T) {
	c := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1/unused")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.URL+"/own/path")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=general")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-key=a%20b, x-team = me")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	if len(c.seen) != 1 || len(c.spans()) != 1 {
		t.Fatalf("%d requests, %d spans", len(c.seen), len(c.spans()))
	}
	r := c.seen[0]
	if r.URL.Path != "/own/path" || r.Header.Get("X-Key") != "a b" || r.Header.Get("X-Team") != "me" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%s %v", r.URL.Path, r.Header)
	}
}

func TestPathsAndDelta(t *testing.T) {
	c := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL+"/base/")
	t.Setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "Delta")
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	var paths []string
	for _, r := range c.seen {
		paths = append(paths, r.URL.Path)
	}
	if slices.Sort(paths); !slices.Equal(paths, []string{"/base/v1/metrics", "/base/v1/traces"}) {
		t.Errorf("paths %q", paths)
	}
	if d := c.figures()["bx.calls"].Sum.AggregationTemporality; d != 1 {
		t.Errorf("temporality %d, want delta", d)
	}
}

// A variable that cannot be obeyed is named, without a key in its value.
func TestBadEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "grpc", "OTEL_TRACES_EXPORTER": "zipkin",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4317", "OTEL_EXPORTER_OTLP_HEADERS": "hunter2", "OTEL_EXPORTER_OTLP_TIMEOUT": "soon", "OTEL_EXPORTER_OTLP_COMPRESSION": "zstd",
	} {
		t.Run(name, func(t *testing.T) {
			collect(t)
			t.Setenv(name, value)
			told, err := telemetry.Open(t.Context(), telemetry.Config{})
			if told != nil || err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, %v", told, err)
			}
		})
	}
}

// What a collector is too busy for is sent again; what it does not want is told
// once, with its host alone.
func TestCollectorThatRefuses(t *testing.T) {
	c := collect(t)
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	c.answer = func(w http.ResponseWriter) {
		if len(c.seen) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	if len(c.seen) != 2 {
		t.Errorf("%d requests, want 2", len(c.seen))
	}
	for name, answer := range map[string]func(http.ResponseWriter){
		"401 Unauthorized": func(w http.ResponseWriter) { w.WriteHeader(401) },
		"refused 1: full": func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"partialSuccess":{"rejectedSpans":"1","errorMessage":"full"}}`))
		},
	} {
		c.answer = answer
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL+"?key=hunter2")
		var warned []string
		told, err := telemetry.Open(t.Context(), telemetry.Config{Warn: func(s string) { warned = append(warned, s) }})
		if err != nil {
			t.Fatal(err)
		}
		told.Chat(t.Context(), served())
		err = told.Close(t.Context())
		if err == nil || !strings.Contains(err.Error(), name) || len(warned) != 1 || warned[0] != err.Error() || strings.Contains(warned[0], "hunter2") {
			t.Errorf("%v; warned %q, want %s", err, warned, name)
		}
	}
}

// A collector that does not answer holds nobody up.
func TestCollectorThatHangs(t *testing.T) {
	c := collect(t)
	leave := make(chan bool)
	c.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-leave })
	defer close(leave)
	told := open(t)
	told.Chat(t.Context(), served())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := told.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want a deadline", err)
	}
}
