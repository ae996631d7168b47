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
	broken  error // the bytes are no stream
	over    bool
}

// Stream begins to read a streamed answer. A reply or an error in one piece, as
// servers send them where a stream was asked for, is read as well.
func (a *Answer) Stream() *Stream {
	return &Stream{answer: a, decoder: a.exchange.Framing.AnswerDecoder(), reader: a.exchange.Reader(nil)}
}

// Feed takes more of the answer and gives what the client gets of it now. It
// never fails: what goes wrong ends the stream, see Close.
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

// Close ends the answer. One that broke ends in an error of the client's API, and
// the error tells why.
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

// Losses are what the client is not told, of an answer that is over and whole.
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

// begin makes the writer, once. The first frame names the model; a reader of its
// own finds it there.
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

// append adds frames as the client's API cuts them.
func (a *Answer) append(out []byte, frames []wire.Frame) []byte {
	for _, f := range frames {
		out = a.framing.Append(out, f)
	}
	return out
}

// Copy translates all of an answer, and passes on what there is of it whenever
// more has come. Its error is that of Close, or of the reader or the writer.
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
