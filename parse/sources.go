package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
)

// sources keeps the calls of the text and those of the provider's own field apart:
// of an equal pair the native one stays.
type sources struct {
	sent   []utp.Call
	coming []utp.Call // native ones that are known to follow
	text   *held      // the call in text that is being read, until it is known to be new
	wait   []held     // calls in text that a native one may still equal, and what stands between them
	native map[int]*held
}

// held are events that wait.
type held struct {
	events []utp.Event
	call   *utp.Call // that they make; nil: they make none
	raw    int       // bytes of the text
}

func (h *held) add(e utp.Event) {
	h.events = append(h.events, e)
	h.raw += len(e.Raw)
}

// Expect says which events Through will be handed next. A call in text that one
// of their native calls equals is dropped. Where it was not said, that takes place
// only while no words, and at most 512 bytes, stand between the two: the call in
// text has left by then, and the native one is dropped.
func (p *Parser) Expect(evs []utp.Event) {
	for _, e := range evs {
		c, whole := e.Value.(utp.Call)
		switch {
		case e.Kind == utp.EventCallEnd:
			c = *e.Call
		case e.Kind != utp.EventWhole || !whole:
			continue
		}
		if c, prob := p.fitted(c); prob == nil {
			c.Source = utp.SourceNative
			p.through.from.coming = append(p.through.from.coming, c)
		}
	}
}

// fromText sends the events of the text parse, but for a call that a native one
// makes too.
func (p *Parser) fromText(evs []utp.Event) {
	t := p.through
	for _, e := range evs {
		if e.Kind == utp.EventCallStart {
			t.from.text = &held{}
		}
		h := t.from.text
		if h == nil {
			t.beside(e)
			continue
		}
		h.add(e)
		switch {
		case e.Kind == utp.EventCallEnd:
			h.call = e.Call
			if t.from.equal(e.Call) {
				h.drop()
			}
			t.from.wait = append(t.from.wait, *h)
			t.from.text = nil
			if t.from.waiting() > maxShort {
				t.release()
			}
		case e.Kind == utp.EventProblem, t.from.waiting() > maxShort && !t.from.made(h.events[0].Call.Name, true):
			t.release()
			t.out = append(t.out, h.events...)
			t.from.text = nil
		}
	}
}

// beside sends an event of the text that is no part of a waiting call. Words end
// the wait.
func (t *through) beside(e utp.Event) {
	if e.Kind == utp.EventCallEnd {
		t.from.sent = append(t.from.sent, *e.Call)
	}
	blank := e.Kind == utp.EventMark || e.Kind == utp.EventText && strings.TrimSpace(e.Text) == ""
	if n := len(t.from.wait); n > 0 && blank && t.from.waiting()+len(e.Raw) <= maxShort {
		t.from.wait[n-1].add(e)
		return
	}
	t.release()
	t.out = append(t.out, e)
}

// release sends the calls that wait.
func (t *through) release() {
	for _, h := range t.from.wait {
		t.out = append(t.out, h.events...)
		if h.call != nil {
			t.from.sent = append(t.from.sent, *h.call)
		}
	}
	t.from.wait = t.from.wait[:0]
}

// drop leaves the raw text of a call alone.
func (h *held) drop() {
	for i, e := range h.events {
		h.events[i] = utp.Event{Kind: utp.EventMark, Part: e.Part, Raw: e.Raw}
	}
	h.call = nil
}

// idle reports whether no call in text waits.
func (s *sources) idle() bool { return s.text == nil && len(s.wait) == 0 }

// waiting is how many bytes of text wait.
func (s *sources) waiting() (n int) {
	if s.text != nil {
		n = s.text.raw
	}
	for i := range s.wait {
		n += s.wait[i].raw
	}
	return n
}

// made reports whether a call of this name is known, a native one or one in text.
func (s *sources) made(name string, native bool) bool {
	named := func(c utp.Call) bool { return c.Name == name && (c.Source == utp.SourceNative) == native }
	return slices.ContainsFunc(s.sent, named) || slices.ContainsFunc(s.coming, named)
}

// equal reports whether an equal call came, or will come, from the other source.
func (s *sources) equal(c *utp.Call) bool {
	twin := func(o utp.Call) bool { return twins(c, &o) }
	return slices.ContainsFunc(s.sent, twin) || slices.ContainsFunc(s.coming, twin)
}

// took takes a native call that is sent. What waits and equals it is dropped.
func (s *sources) took(c *utp.Call) {
	for i := range s.wait {
		if h := &s.wait[i]; h.call != nil && twins(h.call, c) {
			h.drop()
		}
	}
	s.sent = append(s.sent, *c)
}

// twins reports whether two calls are equal, one native and one not.
func twins(a, b *utp.Call) bool {
	return a.Name == b.Name && (a.Source == utp.SourceNative) != (b.Source == utp.SourceNative) && body.Same(a.Args, b.Args)
}
