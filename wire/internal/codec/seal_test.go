package codec

import (
	"encoding/base64"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

func TestSeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		think := utp.Think{Signature: rapid.String().Draw(t, "signature"), Provider: rapid.SampledFrom([]string{"", "openai"}).Draw(t, "provider"),
			ItemID: rapid.SampledFrom([]string{"", "rs_1"}).Draw(t, "item"), Redacted: rapid.Bool().Draw(t, "redacted")}
		seal := Seal(think)
		if empty := think.Signature == "" && think.Provider == "" && think.ItemID == ""; empty != (seal == "") {
			t.Fatalf("%+v: seal %q", think, seal)
		} else if empty {
			return
		}
		got, ok := Unseal(seal)
		if _, err := base64.StdEncoding.DecodeString(seal); err != nil || !ok {
			t.Fatalf("%q: %v", seal, err)
		}
		if want := strings.ToValidUTF8(think.Signature, "\uFFFD"); got.Signature != want && think.Signature == want || got.Provider != think.Provider {
			t.Fatalf("%+v became %+v", think, got)
		}
	})
	for _, s := range []string{"", "utp1", "utp1!", "c2lnbmF0dXJl", "utp1AAAA"} {
		if _, ok := Unseal(s); ok {
			t.Errorf("%q passed for a seal", s)
		}
	}
}
