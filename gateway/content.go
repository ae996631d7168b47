package gateway

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/record"
)

// maxContent is how much of a request, and of a reply, Config.Content gets, in bytes.
const maxContent = 256 << 10

// content collects what the model writes, where that is kept.
type content struct {
	raw strings.Builder
	cut bool
}

// keepsContent reports whether the request and its reply are for Config.Content.
func (x *exchange) keepsContent() bool {
	return x.Content != nil && x.way != nil && (x.way.Content || x.client != nil && x.client.Content)
}

// hear takes an event of the reply.
func (c *content) hear(e utp.Event) {
	text := e.Raw
	if text == "" && (e.Kind == utp.EventText || e.Kind == utp.EventThink) {
		text = e.Text
	}
	if c.raw.Len()+len(text) > maxContent {
		c.cut = true
		return
	}
	c.raw.WriteString(text)
}

// tell gives the content away.
func (x *exchange) tell() {
	request := utp.Redact(string(x.sent))
	out := record.Content{ID: x.report.ID, Time: x.began.UTC(), Raw: utp.Redact(x.content.raw.String()), Cut: x.content.cut}
	if out.Request = request[:min(len(request), maxContent)]; len(out.Request) < len(request) {
		out.Cut = true
	}
	x.Content(out)
}
