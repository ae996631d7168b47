package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/cmd/bx/internal/collector"
	"github.com/unifiedtoolprotocol/utp/gateway"
	"github.com/unifiedtoolprotocol/utp/wire"
)

func TestFailureOf(t *testing.T) {
	for want, r := range map[string]gateway.Report{
		"429": {Status: 429, Err: &wire.Error{Status: 429}}, "gone": {Status: 0, Err: context.Canceled}, "broken": {Status: 200, Err: wire.ErrCut}, "": {Status: 200, Stop: utp.StopEnd},
	} {
		if got := failureOf(r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
	if got := failureOf(gateway.Report{Status: 200, Stop: utp.StopError}); got != "broken" {
		t.Errorf("a reply that ended in an error: %q", got)
	}
}

// collectorKey finds what a script's collector has got.
type collectorKey struct{}

// cmdCollector is the script command
//
//	collector        start an OpenTelemetry collector, and let bx know of it
//	collector -took  print what it took
//	collector -hang  from here on, answer nothing
func cmdCollector(ts *testscript.TestScript, neg bool, args []string) {
	c := ts.Value(collectorKey{}).(*collector.Collector)
	switch {
	case len(args) == 1 && args[0] == "-took":
		fmt.Fprint(ts.Stdout(), c)
	case len(args) == 1 && args[0] == "-hang":
		startCollector(ts, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}))
	default:
		startCollector(ts, c)
	}
}

func startCollector(ts *testscript.TestScript, h http.Handler) {
	s := httptest.NewServer(h)
	ts.Defer(s.Close)
	ts.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
}
