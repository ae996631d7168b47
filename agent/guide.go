package agent

import (
	"context"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// What a guide may take of the prompt: a share of the window, or so many bytes
// where the window is not known.
const (
	guideShare = 10
	guideBytes = 8 << 10
)

// Guide finds what goes along with a question. It is asked once, when the question
// is logged: a search may take long, and be stopped.
type Guide func(ctx context.Context) string

func (g Guide) text(ctx context.Context) string {
	if g == nil {
		return ""
	}
	return g(ctx)
}

// guided puts the guide before the question. It is no part of the conversation
// that is kept, and a text of others: it is marked as such.
func (t *turn) guided(ms []utp.Message) []utp.Message {
	at := t.fitting.question
	for i := range t.fitting.gone {
		if i < t.fitting.question {
			at--
		}
	}
	if t.guide == "" || at >= len(ms) {
		return ms
	}
	text := guideLine + "\n\n" + cutMiddle(t.guide, t.guideRoom()) + "\n\n" + questionLine
	out := slices.Clone(ms)
	out[at].Parts = slices.Concat([]utp.Part{utp.Text{Text: text}}, ms[at].Parts)
	return out
}

// guideRoom is how many bytes of the guide are sent.
func (t *turn) guideRoom() int {
	room := t.fitting.window
	if room <= 0 {
		return guideBytes
	}
	tokens := max(utp.NewText(utp.RoleUser, t.guide).Tokens(), 1)
	return int(float64(len(t.guide)) * min(1, float64(room)/guideShare/float64(tokens)))
}

// messages is what the model is sent.
func (t *turn) messages(line string) []utp.Message { return withLine(t.guided(t.sent()), line) }
