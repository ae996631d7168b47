package codec

import (
	"encoding/base64"
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// sealPrefix begins a seal. Source: none; no provider's signature begins so.
const sealPrefix = "utp1"

// Seal writes where a reasoning comes from as a text of letters, digits, "+"
// and "/", so that a client who knows one signature field and nothing of its
// content carries it to the next turn. It holds all but the text. "" if there is
// nothing to carry.
func Seal(t utp.Think) string {
	t.Text = ""
	if t.Signature == "" && t.Provider == "" && t.ItemID == "" && len(t.Extra) == 0 {
		return ""
	}
	b, err := shape.Marshal(t)
	if err != nil {
		return ""
	}
	for len(b)%3 != 0 { // no padding, so that the whole is base64 itself
		b = append(b, ' ')
	}
	return sealPrefix + base64.StdEncoding.EncodeToString(b)
}

// Unseal reads what Seal wrote. ok is false for any other text.
func Unseal(s string) (t utp.Think, ok bool) {
	if len(s) < len(sealPrefix) || s[:len(sealPrefix)] != sealPrefix {
		return t, false
	}
	b, err := base64.StdEncoding.DecodeString(s[len(sealPrefix):])
	if err != nil || json.Unmarshal(b, &t) != nil {
		return utp.Think{}, false
	}
	return t, true
}
