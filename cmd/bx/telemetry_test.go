package main

import (
	"context"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
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
