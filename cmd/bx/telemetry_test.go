package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/record"
	"github.com/unifiedtoolprotocol/utp/wire"
)

func TestFailureOf(t *testing.T) {
	for want, r := range map[string]gateway.Report{
		"429":    {Reply: record.Reply{Status: 429}, Err: &wire.Error{Status: 429}},
		"gone":   {Reply: record.Reply{Status: gateway.StatusGone}, Err: context.Canceled},
		"broken": {Reply: record.Reply{Status: 200}, Err: wire.ErrCut},
		"":       {Reply: record.Reply{Status: 200, Stop: utp.StopEnd}},
	} {
		if got := failureOf(r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
	if got := failureOf(gateway.Report{Reply: record.Reply{Status: 200, Stop: utp.StopError}}); got != "broken" {
		t.Errorf("a reply that ended in an error: %q", got)
	}
}

// collectorKey finds what a script's collector has got.
type collectorKey struct{}

type collected struct {
	mu   sync.Mutex
	text strings.Builder
}

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(&c.text, "%s %s\n", r.URL.Path, body)
}

// cmdCollector is the script command
//
//	collector        start an OpenTelemetry collector, and let bx know of it
//	collector -took  print what it took
func cmdCollector(ts *testscript.TestScript, neg bool, args []string) {
	c := ts.Value(collectorKey{}).(*collected)
	if len(args) == 1 && args[0] == "-took" {
		c.mu.Lock()
		defer c.mu.Unlock()
		fmt.Fprint(ts.Stdout(), c.text.String())
		return
	}
	s := httptest.NewServer(c)
	ts.Defer(s.Close)
	ts.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
}
