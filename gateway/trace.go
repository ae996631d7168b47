package gateway

import (
	"time"

	"github.com/unifiedtoolprotocol/utp"
)

// Trace is a piece of a request or a reply, for debugging. It holds content, but no
// credentials.
type Trace struct {
	ID   string    `json:"id"` // of the request
	Time time.Time `json:"time"`
	Side string    `json:"side"` // "client" or "backend"
	Way  string    `json:"way"`  // "in" or "out", seen from the gateway
	What string    `json:"what"` // "request", "reply" or "frame"
	Body string    `json:"body"`
}

func (x *exchange) trace(side, way, what string, body []byte) {
	if x.Trace != nil && len(body) > 0 {
		x.Trace(Trace{ID: x.report.ID, Time: x.Now(), Side: side, Way: way, What: what, Body: utp.Redact(string(body))})
	}
}

// dump is a function for wire.Hooks.
func (x *exchange) dump(sent, received []byte) {
	x.trace("backend", "out", "request", sent)
	x.trace("backend", "in", "reply", received)
}
