package wire

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind FaultKind
		code int
	}{
		{errors.New("x"), Internal, 500}, {nil, Internal, 500}, {&Error{Status: 418}, BadInput, 400}, {&Error{Status: 422}, BadInput, 400}, {&Error{Status: 529}, Overloaded, 503},
		{&Error{Status: 408}, Timeout, 504}, {&Error{Type: NotThisAPI}, BadGateway, 502}, {&Error{Code: "insufficient_quota"}, RateLimited, 429}, {&Error{}, Internal, 500},
		{fmt.Errorf("outer: %w", &Error{Status: 403}), Forbidden, 403}, {fmt.Errorf("outer: %w", ErrCut), BadGateway, 502}, {&Error{Status: 413}, TooLarge, 413},
		{&Error{Code: "429"}, RateLimited, 429}, {&Error{Code: "502"}, BadGateway, 502}, {&Error{Type: "overloaded_error", Code: "500"}, Overloaded, 503}, {&Error{Code: "7"}, Internal, 500},
	} {
		if f := FaultOf(c.err); f.Kind != c.kind || f.Status() != c.code {
			t.Errorf("%v: %+v", c.err, f)
		}
	}
	if d := RetryDelay([]byte(`{"error":{"details":[{"@type":"x"},{"retryDelay":"1.5s"}]}}`)); d != 1500*time.Millisecond {
		t.Error(d)
	}
	if d := RetryDelay([]byte(`[{"error":{"details":[{"retryDelay":"2s"}]}}]`)); d != 2*time.Second {
		t.Error(d)
	}
	if RetryDelay([]byte(`{"error":"x"}`)) != 0 || RetryDelay(nil) != 0 {
		t.Error("a pause out of nothing")
	}
}
