package utp_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

// A call from text tells its dialect, every other one has none.
func TestCallDialect(t *testing.T) {
	for source, want := range map[string]string{"text:hermes": "hermes", utp.SourceNative: "", "": "", "hermes": ""} {
		if got := (utp.Call{Source: source}).Dialect(); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}
