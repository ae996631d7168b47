package codec

import (
	"encoding/json"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/wire"
)

// Emitter is a Writer that hands the events of a Sequence to a codec.
type Emitter struct {
	Sequence
	Event func(e utp.Event) // writes an event of the Sequence, by Send
	Fail  func(err error)   // writes the error that ends the stream, by Send
	Held  func()            // writes what Event holds back, by Send; nil: it holds nothing
	sent  []wire.Frame
	over  bool
	broke error
}

var _ wire.Writer = (*Emitter)(nil)

// Send writes a frame of JSON.
func (m *Emitter) Send(event string, data json.RawMessage) {
	m.sent = append(m.sent, wire.Frame{Event: event, Data: data})
}

// Write takes an event in any legal order.
func (m *Emitter) Write(e utp.Event) []wire.Frame {
	m.sent = m.sent[:0]
	if m.over {
		return nil
	}
	for _, e := range m.Add(e) {
		if e.Kind == utp.EventFinish && e.End.Stop == utp.StopBadCall {
			m.fail(wire.Broken(utp.Reply{End: *e.End}))
			return m.sent
		}
		m.Event(e)
		m.over = e.Kind == utp.EventFinish
	}
	if err := m.Sequence.Err(); err != nil && e.Kind != utp.EventFinish {
		m.fail(err)
	}
	return m.sent
}

// Pause writes what is held back to go out together with more.
func (m *Emitter) Pause() []wire.Frame {
	m.sent = m.sent[:0]
	if m.Held != nil && !m.over {
		m.Held()
	}
	return m.sent
}

// Close ends the stream with an error unless it has ended well.
func (m *Emitter) Close(err error) []wire.Frame {
	m.sent = m.sent[:0]
	switch {
	case m.over:
		return nil
	case err != nil:
	case m.Sequence.Err() != nil:
		err = m.Sequence.Err()
	default:
		err = wire.ErrCut
	}
	m.fail(err)
	return m.sent
}

// Err is the error that the stream has ended in.
func (m *Emitter) Err() error { return m.broke }

func (m *Emitter) fail(err error) {
	m.over, m.broke = true, err
	m.Fail(err)
}

// Compose hands the parts of a whole reply to a codec, in the order and with the
// ids of a Sequence. words is the text of a text or reasoning that a EventPartEnd
// ends. The last event is a Finish. It fails for a reply that is broken.
func Compose(r *utp.Request, reply utp.Reply, s wire.Stamp, part func(e utp.Event, words string)) error {
	if err := wire.Broken(reply); err != nil {
		return err
	}
	seq := Sequence{NewID: s.NewID, Turn: len(r.Messages)}
	var words string
	for _, e := range utp.Replay(reply) {
		for _, e := range seq.Add(e) {
			switch e.Kind {
			case utp.EventText, utp.EventThink:
				words += e.Text // there is one, as a rule
			default:
				part(e, words)
				words = ""
			}
		}
	}
	return seq.Err()
}
