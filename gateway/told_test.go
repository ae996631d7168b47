package gateway

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// A client is told a provider's own answer, and of a backend without one that
// the gateway got none.
func TestTold(t *testing.T) {
	if err := told(nil); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		err    error
		status int
	}{
		{&wire.InputError{Offset: 3, Want: "an object"}, 400},
		{fmt.Errorf("outer: %w", &wire.Error{Status: 404, Message: "no model"}), 404},
		{&wire.Error{Type: "overloaded_error"}, 503},
		{&wire.Error{Type: wire.NotThisAPI, Message: "HTML"}, 502},
		{errors.New("connection refused"), 502},
		{wire.ErrCut, 502},
		{fmt.Errorf("no token: %w", context.DeadlineExceeded), 504},
	} {
		if got := wire.FaultOf(told(c.err)).Status(); got != c.status {
			t.Errorf("%v: status %d, want %d", c.err, got, c.status)
		}
	}
}
