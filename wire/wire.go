// Package wire holds what the codecs of the providers have in common: the
// interfaces Front (to pose as a provider) and Back (to call one), the text of
// event streams, errors, and the rules for ids, names and the order of a
// history. One sub-package is one provider's API.
//
// Everything here is a function of bytes: ids, clocks and connections belong to
// the callers.
package wire

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire/internal/shape"
)

// Frame is one event of a stream: an event of server-sent events, or a line of NDJSON.
type Frame struct {
	Event string // SSE event name; "" is "message"
	Data  []byte
	ID    string // SSE event id
}

// Loss is a part of a request or reply that the other side cannot be told.
type Loss struct {
	Path string `json:"path"` // where it stood: "tools[2].strict"
	What string `json:"what"` // what became of it: "dropped"
	Why  string `json:"why"`
}

// What a loss says of a file that the model does not see, and of a system message
// that could not stay one.
const (
	Noted  = "a note sent in its place"
	ToUser = "sent as a text of the user"
)

// Matters reports a loss that the client should hear of without asking: a file
// that the model does not see, a system message that is none any more, a schema
// or a choice of tools that is not enforced. Settings that only steer are none.
func (l Loss) Matters() bool {
	switch {
	case l.What == Noted, l.What == ToUser:
		return true
	case l.What != "dropped":
		return false
	}
	return l.Path == "params.schema" || strings.HasSuffix(l.Path, ".strict") || strings.HasPrefix(l.Path, "choice.")
}

// Framing is how a provider cuts its stream into frames.
type Framing int

const (
	SSE    Framing = iota // text/event-stream
	NDJSON                // a JSON object a line
)

// Back calls a provider.
type Back interface {
	// Open writes r as the provider wants it. It fails only for a request that
	// cannot be sent at all; everything less is in the Exchange's Losses.
	Open(r *utp.Request) (*Exchange, error)
}

// Exchange is one request on its way to a provider.
type Exchange struct {
	Path    string            // below the provider's base URL: "/v1/chat/completions"
	Header  map[string]string // without authorization
	Body    []byte
	Losses  []Loss
	Framing Framing
	Answer
}

// Answer reads what the provider sends back. newID makes ids for calls that
// come without one; if it is nil they stay empty. A Reader takes a whole reply
// too, as its only frame: a server may answer so although a stream was asked for.
type Answer interface {
	Read(body []byte, newID func() string) (utp.Reply, error)
	Reader(newID func() string) Reader
}

// Reader reads one streamed reply. It never fails in Feed: what goes wrong is
// in the events (a Problem, a Finish with StopError) and in Err.
type Reader interface {
	Feed(f Frame) []utp.Event // valid until the next Feed
	Close() []utp.Event       // the stream is over; ends with Finish unless Feed gave it
	Err() error               // why the reply is broken: *Error or ErrCut; nil after a whole one
}

// HTTPRequest is a client's request, for Front.Read.
type HTTPRequest struct {
	Method, Path  string
	Query, Header map[string][]string
	Body          []byte
}

// Get is the first value of a header, whatever the case of its name.
func (r HTTPRequest) Get(header string) string {
	for name, values := range r.Header {
		if strings.EqualFold(name, header) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// Stamp is what a written reply carries besides the model's words.
type Stamp struct {
	ID, Model string
	Unix      int64                // seconds
	NewID     func() string        // for calls without an id; nil: a hash of their place
	Elapsed   func() time.Duration // since the request came; nil: not known
}

// Named gives the name of the model and the id of a reply: the stamp's, else the
// request's or the reply's own.
func (s Stamp) Named(r *utp.Request, end utp.End) (id, model string) {
	return cmp.Or(s.ID, end.ID), cmp.Or(s.Model, r.Model, end.Model)
}

// Front poses as a provider.
type Front interface {
	Read(r HTTPRequest) (*utp.Request, []Loss, error)
	Whole(r *utp.Request, reply utp.Reply, s Stamp) ([]byte, []Loss, error)
	Writer(r *utp.Request, s Stamp) Writer
	Error(err error) (status int, body []byte)
	Models(models []Model) []byte
}

// Writer writes one streamed reply.
type Writer interface {
	Write(e utp.Event) []Frame // the list is valid until the next Write
	Pause() []Frame            // what waits for more of its kind: for now nothing more has come
	Close(err error) []Frame   // the last frames, whatever happened
	Err() error                // the error that the stream has ended in; nil after a good end
}

// Model is a model as a server lists it.
type Model struct {
	ID      string `json:"id"`
	Context int    `json:"context,omitempty"` // window in tokens; 0 is unknown
	Tools   *bool  `json:"tools,omitempty"`   // the server takes native tools for it; nil is unknown
	Think   *bool  `json:"think,omitempty"`   // it can reason; nil is unknown
	Vision  *bool  `json:"vision,omitempty"`  // it takes images; nil is unknown
	Loaded  bool   `json:"loaded,omitempty"`  // in memory now
	Chat    bool   `json:"chat"`              // not an embedding model
	Remote  bool   `json:"remote,omitempty"`  // the server passes its requests on to another machine
	Owner   string `json:"owner,omitempty"`
	Created int64  `json:"created,omitempty"` // Unix seconds
	Offer   string `json:"-"`                 // how the tools of a request reach it: "native", "prompted" or "none"; "" is not known

	// Of a server with Ollama's API its own words: the entries of its two lists,
	// and what changes with the model's files.
	Entry, Running json.RawMessage `json:"-"`
	Digest         string          `json:"-"`
}

// Rank orders models for who has to choose one: one in memory before others, one
// that takes native tools before one of which that is not known, and that before
// one that does not. Below 0 is a model that is never chosen: one that does not
// chat, or that the server would ask another machine for.
func (m Model) Rank() (r int) {
	if !m.Chat || m.Remote {
		return -1
	}
	if m.Loaded {
		r += 4
	}
	switch {
	case m.Tools == nil:
		r++
	case *m.Tools:
		r += 2
	}
	return r
}

// InputError is a client's request, or a field of it, that cannot be read: where
// it stands in the body, and what should have stood there.
type InputError shape.Error

// Error says where and what was wanted.
func (e *InputError) Error() string { return (*shape.Error)(e).Error() }
