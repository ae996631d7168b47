package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
)

// contract: A-17
func TestCutKeepsTheHeadAndSaysWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var parts []utp.Part
		whole := ""
		for range rapid.IntRange(0, 4).Draw(rt, "parts") {
			text := rapid.StringOf(rapid.SampledFrom([]rune("ab\né語🙂"))).Draw(rt, "text")
			parts, whole = append(parts, utp.Text{Text: text}), whole+text
		}
		limit := rapid.IntRange(1, 40).Draw(rt, "limit")
		out, cut := cutParts(parts, limit)
		if len(whole) <= limit {
			if cut != 0 || len(out) != len(parts) {
				rt.Fatalf("cut for nothing: %v", out)
			}
			return
		}
		head := ""
		for _, p := range out[:len(out)-1] {
			head += p.(utp.Text).Text
		}
		note := out[len(out)-1].(utp.Text).Text
		if !strings.HasPrefix(whole, head) || len(head) > limit || !utf8.ValidString(head) || len(head)+cut != len(whole) {
			rt.Fatalf("limit %d: kept %q of %q, cut %d", limit, head, whole, cut)
		}
		if !strings.HasPrefix(note, "[cut: ") {
			rt.Fatalf("no notice: %q", note)
		}
	})
}

// contract: A-17
func TestCutOfFiftyThousandBytes(t *testing.T) {
	out, cut := cutParts([]utp.Part{utp.Text{Text: strings.Repeat("0123456789\n", 50000/11)}}, 20000)
	if got := len(out[0].(utp.Text).Text); got > 20000 || got < 19980 || cut == 0 {
		t.Errorf("kept %d, cut %d", got, cut)
	}
}
