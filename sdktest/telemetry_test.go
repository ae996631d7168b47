package sdktest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// collector reads OTLP by OpenTelemetry's own messages, and takes no field that
// they do not have.
type collector struct {
	mu      sync.Mutex
	traces  tracepb.TracesData
	metrics metricspb.MetricsData
	errs    []error
}

func (c *collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	to := map[string]proto.Message{"/v1/traces": &c.traces, "/v1/metrics": &c.metrics}[r.URL.Path]
	switch {
	case err != nil:
	case to == nil:
		err = fmt.Errorf("there is no %s", r.URL.Path)
	default:
		err = protojson.Unmarshal(body, to)
	}
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%w: %s", err, body))
	}
}

// answering is a model that calls a tool in text, and answers when it has the result.
func answering(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	text := `<tool_call>{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\",}}</tool_call>`
	if strings.Contains(string(body), "hello.txt") {
		text = "There is hello.txt."
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n", text)
}

// What bx sends is OTLP as OpenTelemetry's own types define it.
func TestTelemetry(t *testing.T) {
	c := &collector{}
	to, model := httptest.NewServer(c), httptest.NewServer(http.HandlerFunc(answering))
	defer to.Close()
	defer model.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hello.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bx, "--root", dir, "--model", "m", "--no-session", "What is there?")
	cmd.Env = []string{"HOME=" + t.TempDir(), "OPENAI_BASE_URL=" + model.URL + "/v1", "OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "There is hello.txt.") {
		t.Fatalf("%v: %s", err, out)
	}
	for _, err := range c.errs {
		t.Error(err)
	}
	var names []string
	for _, r := range c.traces.ResourceSpans {
		for _, s := range r.ScopeSpans {
			for _, span := range s.Spans {
				names = append(names, fmt.Sprint(span.Name, " ", span.Kind))
			}
		}
	}
	for _, r := range c.metrics.ResourceMetrics {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				names = append(names, m.Name)
			}
		}
	}
	slices.Sort(names)
	want := []string{"bx.calls", "bx.fixes", "chat m SPAN_KIND_CLIENT", "chat m SPAN_KIND_CLIENT", "execute_tool list_dir SPAN_KIND_INTERNAL",
		"gen_ai.client.operation.duration", "gen_ai.client.operation.time_to_first_chunk", "gen_ai.client.token.usage", "invoke_agent bx SPAN_KIND_INTERNAL"}
	if !slices.Equal(names, want) {
		t.Errorf("%q,\nwant %q", names, want)
	}
}
