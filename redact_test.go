package utp_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// What looks like a credential is not kept.
func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"Incorrect API key provided: sk-proj-AbC123****xyz.": "Incorrect API key provided: sk-…", "key AIzaSyA1234567 is bad": "key AIza… is bad",
		"GET /v1/keys/bx-ZOHHMYBF3PKLS4FJYUUVHFDIQG": "GET /v1/keys/bx-…", "bx-serve-of-the-first-floor": "bx-serve-of-the-first-floor",
		"Authorization: Bearer abcdef123": "Authorization: Bearer …", "a task-list of risk-free desks": "a task-list of risk-free desks",
	} {
		if got := utp.Redact(in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}
