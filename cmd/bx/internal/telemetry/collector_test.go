package telemetry_test

import (
	"fmt"
	"os"

	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/telemetry"
)

// collector is a server that takes OTLP in JSON.
type collector struct {
	*httptest.Server
	answer func(w http.ResponseWriter) // nil: it takes all

	mu     sync.Mutex
	seen   []*http.Request
	bodies []string
	got    []message
}

// message is what is read of both signals.
type message struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes attributes }
		ScopeSpans []struct {
			Scope struct{ Name, Version string }
			Spans []span
		}
	}
	ResourceMetrics []struct {
		Resource     struct{ Attributes attributes }
		ScopeMetrics []struct{ Metrics []figure }
	}
}

type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Flags                               uint32
	Kind                                int
	Start                               int64 `json:"startTimeUnixNano,string"`
	End                                 int64 `json:"endTimeUnixNano,string"`
	Attributes                          attributes
	Events                              []struct {
		Name       string
		Attributes attributes
	}
	Status struct{ Code int }
}

func (s span) took() time.Duration { return time.Duration(s.End - s.Start) }

type figure struct {
	Name, Unit     string
	Sum, Histogram struct {
		DataPoints []struct {
			Attributes     attributes
			AsInt, Count   string
			Sum            float64
			BucketCounts   []string
			ExplicitBounds []float64
		}
		AggregationTemporality int
		IsMonotonic            bool
	}
}

// attributes are values by key: string, bool, float64, []string; whole numbers
// are strings behind "int ".
type attributes map[string]any

func (a *attributes) UnmarshalJSON(b []byte) error {
	type value struct {
		StringValue, IntValue *string
		BoolValue             *bool
		DoubleValue           *float64
	}
	var list []struct {
		Key   string
		Value struct {
			value
			ArrayValue *struct{ Values []value }
		}
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*a = attributes{}
	for _, kv := range list {
		v := kv.Value
		switch {
		case v.StringValue != nil:
			(*a)[kv.Key] = *v.StringValue
		case v.IntValue != nil:
			(*a)[kv.Key] = "int " + *v.IntValue
		case v.BoolValue != nil:
			(*a)[kv.Key] = *v.BoolValue
		case v.DoubleValue != nil:
			(*a)[kv.Key] = *v.DoubleValue
		case v.ArrayValue != nil:
			var words []string
			for _, one := range v.ArrayValue.Values {
				words = append(words, *one.StringValue)
			}
			(*a)[kv.Key] = strings.Join(words, " ")
		}
	}
	return nil
}

// collect starts a collector and sets the environment to it and nothing else.
func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Server.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	text, err := io.ReadAll(body)
	var m message
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen, c.bodies, c.got = append(c.seen, r), append(c.bodies, string(text)), append(c.got, m)
	if c.answer != nil {
		c.answer(w)
		return
	}
	_, _ = io.WriteString(w, "{}")
}

// spans are all that came, in order.
func (c *collector) spans() (all []span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.got {
		for _, r := range m.ResourceSpans {
			for _, s := range r.ScopeSpans {
				all = append(all, s.Spans...)
			}
		}
	}
	return all
}

// figures are the last of each name.
func (c *collector) figures() map[string]figure {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]figure{}
	for _, m := range c.got {
		for _, r := range m.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, f := range s.Metrics {
					all[f.Name] = f
				}
			}
		}
	}
	return all
}

// open opens telemetry as the environment says.
func open(t *testing.T) *telemetry.Telemetry {
	t.Helper()
	warn := func(s string) { fmt.Fprintln(os.Stderr, s) } // also after the end of the test
	told, err := telemetry.Open(t.Context(), telemetry.Config{Version: "1.2.3", Warn: warn})
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
