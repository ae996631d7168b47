package reading

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse"
)

// stream is a text that comes in pieces, among those of others.
type stream struct {
	id  json.RawMessage
	n   int // how many were opened before it
	cut bool
	p   *parse.Parser
	c   collector
}

// streams are those that are open, by id as it was written.
type streams struct {
	open map[string]*stream
	n    int // how many were opened
}

// left are those that are still open, in the order in which they were opened.
func (s *streams) left() (list []*stream) {
	for _, one := range s.open {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b *stream) int { return a.n - b.n })
	return list
}

// find is the stream that a line is about.
func (s *streams) find(id json.RawMessage) (*stream, error) {
	if len(id) == 0 || string(id) == "null" {
		return nil, errNoID
	}
	if one := s.open[string(id)]; one != nil {
		return one, nil
	}
	return nil, fmt.Errorf(`no stream with this id is open: a line {"id":%s,"op":"open"} opens one`, excerpt(id))
}

var errNoID = errors.New(`"id" is missing: the lines of a stream are known by it`)

// open begins a stream. Nothing is answered but that it is open.
func (w *worker) open(l *lineJSON) (any, error) {
	switch one, err := w.streams.find(l.ID); {
	case one != nil:
		return nil, errors.New("a stream with this id is open already: close it first, or take another id")
	case errors.Is(err, errNoID):
		return nil, err
	}
	s, err := w.begin(l)
	if err != nil {
		return nil, err
	}
	s.id, s.n = l.ID, w.streams.n
	w.streams.n++
	w.streams.open[string(l.ID)] = s
	return nil, nil
}

// begin makes a stream as a line says.
func (w *worker) begin(l *lineJSON) (*stream, error) {
	s := new(stream)
	rd, err := w.reads(l, &s.c)
	if err != nil {
		return nil, err
	}
	o := *rd.o
	o.Events = true
	rd.o, s.cut = &o, o.Cut
	s.c.begin(rd, false).events = []Event{} // never null
	s.c.live = &live{ids: ids{}, part: -1}
	s.p = parse.New(rd.cfg)
	return s, nil
}

// feed reads a piece. What follows from it is answered.
func (w *worker) feed(l *lineJSON) (any, error) {
	s, err := w.streams.find(l.ID)
	switch {
	case err != nil:
		return nil, err
	case l.Piece == nil:
		return nil, errors.New(`"piece" is missing: want a text`)
	}
	return s.feed(*l.Piece), nil
}

func or[T any](v *T, instead T) T {
	if v == nil {
		return instead
	}
	return *v
}

// feed gives the events of a piece. They are valid until the next one.
func (s *stream) feed(piece string) []Event {
	s.c.events = s.c.events[:0]
	s.c.fed[inText] += len(piece)
	s.c.all(s.p.Feed(piece))
	return s.c.events
}

// close ends a stream. Its answer is the whole reading, with the last events.
func (w *worker) close(l *lineJSON) (any, error) {
	s, err := w.streams.find(l.ID)
	if err != nil {
		return nil, err
	}
	delete(w.streams.open, string(l.ID))
	return s.close(or(l.Piece, ""), or(l.Cut, s.cut))
}

// close gives the whole reading, with the last events.
func (s *stream) close(piece string, cut bool) (*Reading, error) {
	s.feed(piece)
	s.c.all(s.p.Close(cut))
	return s.c.reading()
}

// live is what events of a stream say beyond those of a parser.
type live struct {
	told int // calls
	ids  ids // of those
	part int // of the call that began last; -1 if it is over
	text []byte
}

// complete adds to an event what can be known of it alone: of a call that has
// ended, what a Reading says of it; of a call that failed, the text that stays of it.
func (c *collector) complete(e *Event) {
	l := c.live
	switch e.Kind {
	case utp.EventCallStart.String():
		l.part, l.text = e.Part, append(l.text[:0], e.Raw...)
	case utp.EventCallDelta.String():
		l.text = append(l.text, e.Raw...)
	case utp.EventCallEnd.String():
		l.part, e.ToolCall = -1, c.tell(e.Part)
	case utp.EventProblem.String():
		text := e.Raw
		if e.Part == l.part {
			l.part, text = -1, string(l.text)+e.Raw
		}
		if e.Problem.Shows() && (c.r.o.Policy.Malformed != Strip || !broken(e.Problem.Kind)) {
			e.Text = text
		}
	}
}

// tell judges the call of a part that has ended, and gives it an id.
func (c *collector) tell(part int) *Call {
	i := len(c.calls) - 1
	for c.calls[i].part != part {
		i--
	}
	f := &c.calls[i]
	var also Reading
	call := c.judged(f, &also)
	f.told, f.flagged = &call, also.Problems
	if c.live.ids[call.ID] = true; call.ID == "" {
		call.ID = c.live.ids.free(c.live.told)
	}
	c.live.told++
	return f.told
}

// known is what was told of a call, or what is to be told of it now.
func (c *collector) known(f *found, out *Reading) Call {
	if f.told == nil {
		return c.judged(f, out)
	}
	out.Problems = append(out.Problems, f.flagged...)
	return *f.told
}
