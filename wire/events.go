package wire

import (
	"bytes"
	"io"
	"iter"

	"github.com/unifiedtoolprotocol/utp"
)

// Events reads the answer to x as it comes: the events of body, which may be a
// stream or, whatever was asked for, a reply in one piece. The last one is an
// EventFinish; behind it comes the error of a reply that is broken: *Error,
// ErrCut, or what body failed with.
func Events(x *Exchange, body io.Reader) iter.Seq2[utp.Event, error] {
	return func(yield func(utp.Event, error) bool) {
		p := pump{decoder: x.Framing.Decoder(), reader: x.Reader(nil), yield: yield}
		err := p.all(x.Framing, body)
		if p.left || !p.events(p.reader.Close()) {
			return
		}
		if broken := p.reader.Err(); broken != nil && (err == nil || broken != ErrCut) {
			err = broken
		}
		if err != nil {
			yield(utp.Event{}, err)
		}
	}
}

// BeginsJSON reports that text, the beginning of a reply, is that of a JSON
// value: no line of server-sent events begins so.
func BeginsJSON(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// pump passes the events of a body on.
type pump struct {
	decoder Decoder
	reader  Reader
	yield   func(utp.Event, error) bool
	left    bool // who takes the events wants no more
}

// all reads the body to its end, and says why that came early.
func (p *pump) all(framing Framing, body io.Reader) error {
	var begun []byte // until it is more than white space
	buf := make([]byte, 4<<10)
	for !p.left {
		n, err := body.Read(buf)
		piece := buf[:n]
		if len(bytes.TrimSpace(begun)) == 0 {
			if begun = append(begun, piece...); framing == SSE && BeginsJSON(begun) {
				return p.whole(io.MultiReader(bytes.NewReader(begun), body), err)
			}
		}
		frames, bad := p.decoder.Feed(piece)
		p.frames(frames)
		switch {
		case bad != nil:
			return bad
		case err == nil:
			continue
		}
		frames, bad = p.decoder.Close()
		p.frames(frames)
		if err == io.EOF {
			err = bad
		}
		return err
	}
	return nil
}

// whole reads a reply in one piece. before is what its beginning was read with.
func (p *pump) whole(body io.Reader, before error) error {
	text, err := io.ReadAll(io.LimitReader(body, MaxFrame))
	if before != nil && before != io.EOF {
		err = before
	}
	if err == nil {
		p.frames([]Frame{{Data: text}})
	}
	return err
}

func (p *pump) frames(frames []Frame) {
	for _, f := range frames {
		if p.left || !p.events(p.reader.Feed(f)) {
			return
		}
	}
}

// events passes events on, and reports whether more are wanted.
func (p *pump) events(evs []utp.Event) bool {
	for _, e := range evs {
		if !p.yield(e, nil) {
			p.left = true
			return false
		}
	}
	return true
}
