package wire_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

func TestRemedies(t *testing.T) {
	refused := func(status int, message string) error { return &wire.Error{Status: status, Message: message} }
	for _, tt := range []struct {
		name string
		err  error
		want wire.Remedy
	}{
		{"nothing", nil, wire.Remedy{}},
		{"the request cannot be read", &wire.InputError{Path: "messages"}, wire.Remedy{Never: true}},
		{"400", refused(400, "bad"), wire.Remedy{Never: true}},
		{"422", refused(422, "bad"), wire.Remedy{Never: true}},
		{"413", refused(413, "too large"), wire.Remedy{Never: true}},
		{"a larger window may do", refused(400, "maximum context length is 10 tokens"), wire.Remedy{Other: true, Never: true}},
		{"401", refused(401, "bad key"), wire.Remedy{Other: true, Key: true, Sick: true, Never: true}},
		{"402", refused(402, "no credit"), wire.Remedy{Other: true, Key: true, Never: true}},
		{"403", refused(403, "no"), wire.Remedy{Other: true, Never: true}},
		{"404", refused(404, "no such model"), wire.Remedy{Other: true, Never: true}},
		{"501", refused(501, "not here"), wire.Remedy{Other: true, Never: true}},
		{"408", refused(408, "slow"), wire.Remedy{Same: true, Other: true}},
		{"409", refused(409, "busy"), wire.Remedy{Same: true, Other: true}},
		{"429", refused(429, "slow down"), wire.Remedy{Same: true, Other: true, Key: true, Busy: true}},
		{"429 with a pause", &wire.Error{Status: 429, RetryAfter: 7 * time.Second}, wire.Remedy{Same: true, Other: true, Key: true, Busy: true, Pause: 7 * time.Second}},
		{"429 with a long pause", &wire.Error{Status: 429, RetryAfter: time.Hour}, wire.Remedy{Other: true, Key: true, Busy: true, Pause: time.Hour}},
		{"the quota is used up", &wire.Error{Status: 429, Code: "insufficient_quota"}, wire.Remedy{Other: true, Key: true, Busy: true, Never: true}},
		{"500", refused(500, "CUDA error"), wire.Remedy{Same: true, Other: true, Sick: true}},
		{"500 that is for good", refused(500, "image input is not supported"), wire.Remedy{Other: true, Never: true}},
		{"500 for want of a flag", refused(500, "tools param requires --jinja flag"), wire.Remedy{Other: true, Never: true}},
		{"503", refused(503, "loading"), wire.Remedy{Same: true, Other: true, Sick: true}},
		{"529", refused(529, "overloaded"), wire.Remedy{Same: true, Other: true, Sick: true}},
		{"an error in a stream", &wire.Error{Type: "overloaded_error"}, wire.Remedy{Same: true, Other: true, Sick: true}},
		{"a limit in a stream", &wire.Error{Type: "rate_limit_error"}, wire.Remedy{Same: true, Other: true, Key: true, Busy: true}},
		{"a mistake told in a stream", &wire.Error{Type: "invalid_request_error"}, wire.Remedy{Never: true}},
		{"HTML", &wire.Error{Type: wire.NotThisAPI}, wire.Remedy{Same: true, Other: true, Sick: true}},
		{"cut", fmt.Errorf("the reply: %w", wire.ErrCut), wire.Remedy{Same: true, Other: true, Sick: true}},
		{"a call that cannot be read", &utp.Problem{Kind: utp.ProblemMalformed}, wire.Remedy{Same: true, Other: true}},
		{"not there", errors.New("no route to host"), wire.Remedy{Same: true, Other: true, Sick: true}},
		{"nobody listens", fmt.Errorf("connection refused: %w", wire.ErrInVain), wire.Remedy{Other: true, Sick: true}},
	} {
		if got := wire.RemedyFor(tt.err); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestWait(t *testing.T) {
	r := wire.Remedy{}
	for n, want := range map[int]time.Duration{1: 250 * time.Millisecond, 2: 500 * time.Millisecond, 3: time.Second, 60: 30 * time.Second} {
		if got := r.Wait(250*time.Millisecond, n); got != want {
			t.Errorf("before try %d: %s, want %s", n, got, want)
		}
	}
	r.Pause = 7 * time.Second
	if got := r.Wait(time.Millisecond, 3); got != 7*time.Second {
		t.Errorf("%s", got)
	}
}
