package wire

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
)

func TestEstimate(t *testing.T) {
	small := utp.Request{Messages: []utp.Message{utp.NewText(utp.User, "How many tokens?")}}
	large := small
	large.Tools = []utp.Tool{{Name: "f", Schema: []byte(`{"type":"object"}`)}}
	large.Messages = append(large.Messages, utp.Message{Role: utp.ToolRole, Parts: []utp.Part{utp.Result{Parts: []utp.Part{utp.Text{Text: strings.Repeat("x", 400)}, utp.Blob{}}}}})
	if a, b := Estimate(&small), Estimate(&large); a != 8 || b < 1108 || b > 1140 {
		t.Error(a, b)
	}
}
