// Package envelope recognises the reply of a provider by the envelope around
// it, whole or as a stream that was saved to a file, and reads it into events.
package envelope

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Reader reads replies to requests that offered certain tools. It is safe for
// concurrent use.
type Reader struct {
	answers [len(apis)]func() (wire.Answer, error)
}

// New makes a Reader for the tools.
func New(tools []utp.Tool) *Reader {
	r := new(Reader)
	for i := range apis {
		r.answers[i] = sync.OnceValues(func() (wire.Answer, error) { return apis[i].open(tools) })
	}
	return r
}

// open gets the answering side of a codec.
func (a *api) open(tools []utp.Tool) (wire.Answer, error) {
	ask := []utp.Message{utp.NewText(utp.RoleUser, "?")}
	x, err := a.back.Open(&utp.Request{Model: "any", Stream: true, Messages: ask, Tools: tools})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.name, err)
	}
	return x.Answer, nil
}

// Read gives the events of a reply. found is false if b is not one. bare takes
// the list of calls or blocks of a reply for it as well, and one call. An error
// after events says why the reply is not complete.
func (r *Reader) Read(b []byte, bare bool) (evs []utp.Event, found bool, err error) {
	if bare && string(bytes.TrimSpace(b)) == "[]" {
		return nil, true, nil
	}
	l, found := recognise(b, bare)
	if !found {
		return nil, false, nil
	}
	a, err := r.answers[l.api]()
	if err != nil {
		return nil, true, err
	}
	s := a.Reader(nil)
	for _, f := range l.frames {
		evs = append(evs, s.Feed(f)...)
	}
	evs = append(evs, s.Close()...)
	return evs, true, s.Err()
}

// letter is a reply whose provider is known: the frames of a stream, or one
// with the whole body.
type letter struct {
	api    int
	frames []wire.Frame
}

func wholeLetter(api int, body []byte) letter { return letter{api, []wire.Frame{{Data: body}}} }

var mark = []byte("\xef\xbb\xbf") // a byte order mark

func recognise(b []byte, bare bool) (letter, bool) {
	b = bytes.TrimSpace(bytes.TrimPrefix(b, mark))
	switch {
	case len(b) == 0:
		return letter{}, false
	case b[0] == '{':
		return object(b, bare)
	case b[0] == '[':
		return list(b, bare)
	}
	return events(b)
}

// object reads a whole reply, a stream of one line, or lines of JSON.
func object(b []byte, bare bool) (letter, bool) {
	var o fields
	if json.Unmarshal(b, &o) != nil {
		return lines(b)
	}
	for _, of := range []func(*api) shape{whole, chunk} {
		if i := match(o, of); i >= 0 {
			return wholeLetter(i, b), true
		}
	}
	if i := match(o, item); bare && i >= 0 {
		return wrapped(i, append(append([]byte{'['}, b...), ']')), true
	}
	return letter{}, false
}

// lines reads a stream of one JSON object a line.
func lines(b []byte) (letter, bool) {
	first, _, _ := bytes.Cut(b, []byte("\n"))
	var o fields
	if json.Unmarshal(first, &o) != nil {
		return letter{}, false
	}
	i := match(o, chunk)
	if i < 0 {
		return letter{}, false
	}
	frames, ok := decode(wire.NDJSON, b)
	return letter{api: i, frames: frames}, ok
}

// list reads the chunks of a stream as a list, or the list of a reply's calls.
func list(b []byte, bare bool) (letter, bool) {
	var parts []json.RawMessage
	var first fields
	if json.Unmarshal(b, &parts) != nil || len(parts) == 0 || json.Unmarshal(parts[0], &first) != nil {
		return letter{}, false
	}
	if i := match(first, chunk); i >= 0 {
		l := letter{api: i}
		for _, p := range parts {
			l.frames = append(l.frames, wire.Frame{Data: p})
		}
		return l, true
	}
	if !bare {
		return letter{}, false
	}
	for i := range apis {
		if all(parts, apis[i].hasItem) {
			return wrapped(i, b), true
		}
	}
	last := len(apis) - 1 // it tells of each entry that is no call
	return wrapped(last, b), slices.ContainsFunc(parts, apis[last].hasItem)
}

// hasItem reports whether b is an item of the API's replies.
func (a *api) hasItem(b json.RawMessage) bool {
	var o fields
	return json.Unmarshal(b, &o) == nil && a.item.fits(o)
}

func wrapped(i int, items []byte) letter {
	return wholeLetter(i, fmt.Appendf(nil, apis[i].around, items))
}

// starts are how server-sent events begin.
var starts = [][]byte{[]byte("data:"), []byte("event:"), []byte("id:"), []byte("retry:"), []byte(":")}

// events reads server-sent events.
func events(b []byte) (letter, bool) {
	begins := false
	for _, s := range starts {
		begins = begins || bytes.HasPrefix(b, s)
	}
	if !begins {
		return letter{}, false
	}
	frames, ok := decode(wire.SSE, b)
	for _, f := range frames {
		var o fields
		if json.Unmarshal(f.Data, &o) != nil {
			continue
		}
		if i := match(o, chunk); ok && i >= 0 {
			return letter{api: i, frames: frames}, true
		}
	}
	return letter{}, false
}

func decode(f wire.Framing, b []byte) ([]wire.Frame, bool) {
	d := f.Decoder()
	frames, err := d.Feed(b)
	if err != nil {
		return nil, false
	}
	last, err := d.Close()
	return append(frames, last...), err == nil
}
