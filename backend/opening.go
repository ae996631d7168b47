package backend

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"

	"github.com/unifiedtoolprotocol/utp/wire"
)

// maxOpening is how much of a reply's beginning is kept, to name what it is.
const maxOpening = 512

// opening is the beginning of a stream, until its first event. Servers send a
// whole reply, an error or a page where a stream was asked for, and do not always
// say so in the header.
type opening struct {
	text []byte
	over bool
}

// isJSON reports that b, the next piece, begins a JSON value in place of a stream.
func (o *opening) isJSON(b []byte) bool {
	if o.over || len(bytes.TrimSpace(o.text)) > 0 {
		return false
	}
	return wire.BeginsJSON(b)
}

// note takes a piece and how many events are complete with it.
func (o *opening) note(b []byte, events int) {
	if o.over = o.over || events > 0; !o.over {
		o.text = append(o.text, b[:min(len(b), maxOpening-len(o.text))]...)
	}
}

// foreign is the error of a reply without an event that is none of a stream: a
// page, or words. nil: it may be one that broke off.
func (o *opening) foreign(resp *http.Response) error {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	text := bytes.TrimSpace(o.text)
	if o.over || len(text) == 0 || text[0] == ':' || media == "text/event-stream" {
		return nil
	}
	e := wire.ReadError(0, o.text)
	if e.Type = wire.NotThisAPI; media != "" {
		media = " (" + media + ")"
	}
	e.Message = "it is no stream of events" + media + ": " + e.Body
	return e
}

// half reports the beginning of an event that the end of the connection cut.
func half(f wire.Frame) bool {
	b := bytes.TrimSpace(f.Data)
	return len(b) > 0 && b[0] == '{' && !json.Valid(b)
}
