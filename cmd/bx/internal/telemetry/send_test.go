package telemetry_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/telemetry"
)

// Without a place to send to nothing is made, and taking it does no harm.
func TestNothingIsSent(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"no variable": {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
		"disabled":    {"OTEL_SDK_DISABLED": "True"},
		"none":        {"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := collect(t)
			for k, v := range env {
				t.Setenv(k, v)
			}
			told := open(t)
			if told != nil {
				t.Error("telemetry is on")
			}
			told.Chat(t.Context(), served())
			for range told.Turn(t.Context(), "", &utp.Request{}, turn(nil)) {
			}
			shut(t, told)
			if n := len(c.Requests()); n > 0 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestWhereAndHow(t *testing.T) {
	c, to := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1/unused")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", to.URL+"/own/path")
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=general")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-key=a%20b, x-team = me,")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	if n := len(c.Requests()); n != 1 || len(c.Spans()) != 1 {
		t.Fatalf("%d requests, %d spans", n, len(c.Spans()))
	}
	r := c.Requests()[0]
	if r.Path != "/own/path" || r.Header.Get("X-Key") != "a b" || r.Header.Get("X-Team") != "me" || r.Header.Get("Content-Encoding") != "gzip" {
		t.Errorf("%s %v", r.Path, r.Header)
	}
}

func TestPathsAndDelta(t *testing.T) {
	c, to := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL+"/base/")
	t.Setenv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "Delta")
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	var paths []string
	for _, r := range c.Requests() {
		paths = append(paths, r.Path)
	}
	if slices.Sort(paths); !slices.Equal(paths, []string{"/base/v1/metrics", "/base/v1/traces"}) {
		t.Errorf("paths %q", paths)
	}
	if d := c.Metrics()["bx.calls"].GetSum().GetAggregationTemporality(); d != metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA {
		t.Errorf("temporality %v", d)
	}
}

// A variable that cannot be obeyed is named, without a key in its value.
func TestBadEnvironment(t *testing.T) {
	for _, c := range [][2]string{
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"}, {"OTEL_TRACES_EXPORTER", "zipkin"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4317"}, {"OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///run/collector"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318?key=hunter2"}, {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:hunter2@localhost:4318"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "hunter2"}, {"OTEL_EXPORTER_OTLP_HEADERS", "a=b,x key=hunter2"}, {"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "x-key=hunter2%0a"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "x-key=hunter2%zz"}, {"OTEL_EXPORTER_OTLP_TIMEOUT", "soon"}, {"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"},
	} {
		t.Run(c[0]+"="+c[1], func(t *testing.T) {
			collect(t)
			t.Setenv(c[0], c[1])
			told, err := telemetry.Open(t.Context(), telemetry.Config{})
			if told != nil || err == nil || !strings.Contains(err.Error(), c[0]) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, %v", told, err)
			}
		})
	}
}

// What a collector is too busy for is sent again.
func TestCollectorThatIsBusy(t *testing.T) {
	c, _ := collect(t)
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	c.Answer = func(w http.ResponseWriter, n int) {
		if n == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	if n := len(c.Requests()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// What a collector does not want is told once, without a key that the address
// holds or the answer repeats.
func TestCollectorThatRefuses(t *testing.T) {
	for want, answer := range map[string]func(http.ResponseWriter){
		"401 Unauthorized": func(w http.ResponseWriter) { http.Error(w, "who is hunter2?", http.StatusUnauthorized) },
		"full": func(w http.ResponseWriter) {
			body, _ := proto.Marshal(&coltracepb.ExportTraceServiceResponse{PartialSuccess: &coltracepb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "full"}})
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = w.Write(body)
		},
	} {
		t.Run(want, func(t *testing.T) {
			c, to := collect(t)
			c.Answer = func(w http.ResponseWriter, _ int) { answer(w) }
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL+"/hunter2")
			t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hunter2")
			t.Setenv("OTEL_METRICS_EXPORTER", "none")
			t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
			var warned []string
			told, err := telemetry.Open(t.Context(), telemetry.Config{Warn: func(s string) { warned = append(warned, s) }})
			if err != nil {
				t.Fatal(err)
			}
			told.Chat(t.Context(), served())
			told.Chat(t.Context(), served())
			shut(t, told)
			if len(c.Requests()) != 2 || len(warned) != 1 || !strings.Contains(warned[0], want) || strings.Contains(warned[0], "hunter2") {
				t.Errorf("%d requests; warned %q", len(c.Requests()), warned)
			}
		})
	}
}

// Of a collector that is not there, Close tells once for both signals.
func TestCollectorThatIsDown(t *testing.T) {
	_, to := collect(t)
	to.Close()
	told := open(t)
	told.Chat(t.Context(), served())
	err := told.Close(t.Context())
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), to.Listener.Addr().String()+": connect: connection refused") {
		t.Errorf("%v", err)
	}
}

// What must not leave this machine does not.
func TestOffline(t *testing.T) {
	collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.test")
	told, err := telemetry.Open(t.Context(), telemetry.Config{HTTP: backend.HTTP(true, 0)})
	if err != nil {
		t.Fatal(err)
	}
	told.Chat(t.Context(), served())
	if err := told.Close(t.Context()); err == nil || !strings.Contains(err.Error(), backend.ErrOffline.Error()) {
		t.Errorf("%v, want %v", err, backend.ErrOffline)
	}
}

// A collector that does not answer holds nobody up.
func TestCollectorThatHangs(t *testing.T) {
	_, to := collect(t)
	leave := make(chan bool)
	to.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-leave })
	defer close(leave)
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_BSP_EXPORT_TIMEOUT", "OTEL_METRIC_EXPORT_TIMEOUT"} {
		t.Setenv(name, "600000") // longer than a test may take
	}
	told := open(t)
	told.Chat(t.Context(), served())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := told.Close(ctx); err == nil || !strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		t.Errorf("%v, want a deadline", err)
	}
}

// The exporter of metrics knows Protobuf alone.
func TestProtocol(t *testing.T) {
	kinds := make(chan string, 2)
	to := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { kinds <- r.URL.Path + " " + r.Header.Get("Content-Type") }))
	defer to.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", to.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
	told := open(t)
	told.Chat(t.Context(), served())
	shut(t, told)
	got := []string{<-kinds, <-kinds}
	if slices.Sort(got); !slices.Equal(got, []string{"/v1/metrics application/x-protobuf", "/v1/traces application/json"}) {
		t.Errorf("%q", got)
	}
}
