package reading

import (
	"bytes"
	"encoding/json"
)

// Desk reads texts for a program that holds it in its own memory, one at a time.
type Desk struct{ w worker }

// NewDesk makes a desk that reads texts, no replies of providers.
func NewDesk(o Options) *Desk {
	o.Input, o.Replies = Text, nil
	return &Desk{worker{memory: newMemory(o)}}
}

// Hints are what many texts have in common.
type Hints struct {
	w *worker
	l lineJSON
}

// Hints reads {"tools","model","grammar","prefill","policy","cut"}; all may be
// missing, as in a line of Lines.
func (d *Desk) Hints(b []byte) (*Hints, error) {
	h := &Hints{w: &d.w}
	if err := json.Unmarshal(b, &h.l); err != nil {
		return nil, want(bytes.TrimSpace(b), err)
	}
	if _, err := h.w.reads(&h.l, &h.w.c); err != nil {
		return nil, err
	}
	return h, nil
}

// Read reads a text. What comes of it is valid until the next one.
func (h *Hints) Read(text string) (*Reading, error) {
	rd, err := h.w.reads(&h.l, &h.w.c)
	if err != nil {
		return nil, err
	}
	return rd.read(text, false)
}

// Open begins a text that comes in pieces.
func (h *Hints) Open() (*Pieces, error) {
	s, err := h.w.begin(&h.l)
	return (*Pieces)(s), err
}

// Pieces are a text that comes in pieces.
type Pieces stream

// Feed reads a piece, and gives its events until the next one.
func (p *Pieces) Feed(piece string) []Event { return (*stream)(p).feed(piece) }

// Close ends the text: the whole reading, with the last events. cut says that the
// text was cut off at its end.
func (p *Pieces) Close(cut bool) (*Reading, error) {
	s := (*stream)(p)
	s.c.events = s.c.events[:0]
	return s.close("", cut || s.cut)
}
