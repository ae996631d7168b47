package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// Events reads the answer to x as it arrives. body may be a stream or a whole reply,
// whichever was asked for. The last event is an EventFinish; if the reply is broken, an
// error follows it: *Error, ErrCut, or the error of body.
func Events(x *Exchange, body io.Reader) iter.Seq2[utp.Event, error] {
	return func(yield func(utp.Event, error) bool) {
		p := pump{decoder: x.Framing.AnswerDecoder(), reader: x.Reader(nil), yield: yield}
		err := p.all(body)
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

// BeginsJSON reports whether the beginning of a reply is that of a JSON value, as no
// line of server-sent events is.
func BeginsJSON(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// AnswerDecoder returns a decoder for the answer to a request for a stream. A whole
// reply or error is one frame; an event cut off by the end of the connection is none.
// Close returns an *Error for an answer that is neither, such as a web page.
func (f Framing) AnswerDecoder() Decoder { return &answerDecoder{sse: f == SSE, stream: f.Decoder()} }

type answerDecoder struct {
	sse    bool
	stream Decoder
	state  answerState
	text   []byte // a whole reply, or what came before the first event of a stream
}

type answerState int

const (
	unknown answerState = iota // only white space came
	opening                    // no event is complete
	streaming
	whole
)

func (a *answerDecoder) Feed(b []byte) ([]Frame, error) {
	if a.state == unknown && len(bytes.TrimSpace(b)) > 0 {
		a.state = opening
		if a.sse && BeginsJSON(b) {
			a.state = whole
		}
	}
	if a.state == whole {
		if a.text = append(a.text, b...); len(a.text) > MaxFrame {
			return nil, tooLong(MaxFrame)
		}
		return nil, nil
	}
	if a.state == opening {
		a.text = append(a.text, b[:min(len(b), maxOpening-len(a.text))]...)
	}
	frames, err := a.stream.Feed(b)
	if len(frames) > 0 {
		a.state, a.text = streaming, nil
	}
	return frames, err
}

// maxOpening is how many bytes of an answer are kept to quote it in an error.
const maxOpening = 512

func (a *answerDecoder) Close() ([]Frame, error) {
	frames, err := a.stream.Close()
	if a.state == whole {
		frames = []Frame{{Data: a.text}}
	}
	frames = slices.DeleteFunc(frames, Frame.cut)
	if err == nil && a.state == opening && len(frames) == 0 && !a.begun() {
		e := ReadError(0, a.text)
		e.Type, e.Message = NotThisAPI, "the server sent no stream: "+e.Body
		return nil, e
	}
	return frames, err
}

// begun reports whether the answer begins like a stream, or like JSON.
func (a *answerDecoder) begun() bool {
	text := bytes.TrimSpace(a.text)
	name, _, _ := bytes.Cut(text, []byte(":"))
	return BeginsJSON(text) || slices.Contains([]string{"", "data", "event", "id", "retry"}, string(name))
}

// cut reports whether the JSON of a frame is incomplete.
func (f Frame) cut() bool {
	var at *json.SyntaxError
	return BeginsJSON(f.Data) && errors.As(json.Unmarshal(f.Data, new(json.RawMessage)), &at) && at.Offset >= int64(len(f.Data))
}

// pump passes the events of a body on.
type pump struct {
	decoder Decoder
	reader  Reader
	yield   func(utp.Event, error) bool
	left    bool // the consumer wants no more events
}

// all reads the body to its end, and returns why that came early.
func (p *pump) all(body io.Reader) error {
	buf := make([]byte, 4<<10)
	for !p.left {
		n, err := body.Read(buf)
		frames, bad := p.decoder.Feed(buf[:n])
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
