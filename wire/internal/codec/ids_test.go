package codec

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// contract: CON-23
func TestClientIDsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"functions.get_weather:0", "call_1", "utp_x", "a-b", "-2E"})).Draw(t, "id")
		client := ClientID(id)
		if !legal(client, maxClientID) {
			t.Fatalf("%q became %q", id, client)
		}
		if back := OriginID(client); back != id && !strings.HasPrefix(client, "call_") {
			t.Fatalf("%q became %q became %q", id, client, back)
		}
	})
	for _, id := range []string{"utp_-", "utp_-G0", "utp_-4", "toolu_1", ""} {
		if got := OriginID(id); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
}
