package record

import (
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// MaxContent is how much of a request, and of a reply, a Content has, in bytes.
const MaxContent = 256 << 10

// Heard collects what a model writes, for a Content. The zero Heard is ready.
type Heard struct {
	raw strings.Builder
	cut bool
}

// Hear takes an event of the reply, as the model wrote it.
func (h *Heard) Hear(e utp.Event) {
	text := e.Raw
	if text == "" && (e.Kind == utp.EventText || e.Kind == utp.EventThink) {
		text = e.Text
	}
	if h.raw.Len()+len(text) > MaxContent {
		h.cut = true
		return
	}
	h.raw.WriteString(text)
}

// Content is what was written, redacted.
func (h *Heard) Content(id string, at time.Time, request string) Content {
	request = utp.Redact(request)
	c := Content{ID: id, Time: at.UTC(), Request: request[:min(len(request), MaxContent)], Raw: utp.Redact(h.raw.String())}
	c.Cut = h.cut || len(c.Request) < len(request)
	return c
}
