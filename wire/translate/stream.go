package translate

import (
	"errors"
	"io"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Stream translates one streamed answer as its bytes arrive: Feed them, then Close.
type Stream struct {
	answer  *Answer
	decoder wire.Decoder
	reader  wire.Reader
	writer  wire.Writer // nil before the first frame
	events  []utp.Event
	broken  error // why the bytes are no stream
	over    bool
}

// Stream returns a Stream for one streamed answer. It also reads a whole reply or an
// error, which servers may send where a stream was asked for.
func (a *Answer) Stream() *Stream {
	return &Stream{answer: a, decoder: a.exchange.Framing.AnswerDecoder(), reader: a.exchange.Reader(nil)}
}

// Feed takes more of the answer and returns the bytes for the client so far. It never
// fails: an error ends the stream, and Close returns it.
func (s *Stream) Feed(b []byte) []byte {
	if s.broken != nil || s.over {
		return nil
	}
	frames, err := s.decoder.Feed(b)
	s.broken = err
	out := s.frames(nil, frames)
	if s.writer != nil {
		out = s.answer.append(out, s.writer.Pause())
	}
	return out
}

// Close ends the answer and returns the last bytes for the client. If the answer broke
// off, they hold an error of the client's API, and err says why.
func (s *Stream) Close() ([]byte, error) {
	if s.over {
		return nil, s.broken
	}
	frames, err := s.decoder.Close()
	if s.broken == nil {
		s.broken = err
	}
	out := s.frames(nil, frames)
	s.begin(wire.Frame{})
	out = s.write(out, s.reader.Close())
	if broken := s.reader.Err(); s.broken == nil || broken != nil && !errors.Is(broken, wire.ErrCut) {
		s.broken = broken
	}
	s.over = true
	out = s.answer.append(out, s.writer.Close(s.broken))
	if s.broken == nil {
		s.broken = s.writer.Err()
	}
	return out, s.broken
}

// Losses returns what the client's API could not express, after the answer is complete.
func (s *Stream) Losses() ([]Loss, error) {
	_, losses, err := s.answer.front.Whole(s.answer.request, utp.Collect(s.events), wire.Stamp{})
	return losses, err
}

func (s *Stream) frames(out []byte, frames []wire.Frame) []byte {
	for _, f := range frames {
		s.begin(f)
		out = s.write(out, s.reader.Feed(f))
	}
	return out
}

// begin creates the writer, with the model's name from the first frame.
func (s *Stream) begin(first wire.Frame) {
	if s.writer != nil {
		return
	}
	stamp := s.answer.stamp()
	r := s.answer.exchange.Reader(nil)
	r.Feed(first)
	if evs := r.Close(); len(evs) > 0 && s.answer.request.Model == "" {
		if end := evs[len(evs)-1].End; end != nil {
			stamp.Model = end.Model
		}
	}
	s.writer = s.answer.front.Writer(s.answer.request, stamp)
}

func (s *Stream) write(out []byte, evs []utp.Event) []byte {
	for _, e := range evs {
		s.events = append(s.events, e)
		out = s.answer.append(out, s.writer.Write(e))
	}
	return out
}

// append appends frames in the framing of the client's API.
func (a *Answer) append(out []byte, frames []wire.Frame) []byte {
	for _, f := range frames {
		out = a.framing.Append(out, f)
	}
	return out
}

// Copy translates an answer from one reader to a writer, passing each part on as it
// arrives. Its error is that of Close, of the reader or of the writer.
func (s *Stream) Copy(to io.Writer, from io.Reader) error {
	buf := make([]byte, 4<<10)
	for {
		n, err := from.Read(buf)
		if out := s.Feed(buf[:n]); len(out) > 0 {
			if _, bad := to.Write(out); bad != nil {
				return bad
			}
		}
		if err == nil {
			continue
		}
		end, broken := s.Close()
		if _, bad := to.Write(end); bad != nil {
			return bad
		}
		if err != io.EOF {
			return err
		}
		return broken
	}
}
