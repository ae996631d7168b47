package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
)

// through is what Through knows of the native stream around the text.
type through struct {
	parts map[int]int // native parts to parts of the reply
	think *Parser     // reads native thinking
	mind  int         // part of the latest native thinking, plus 1; 0: none
	ended *utp.Event  // the EventPartEnd of thinking that holds a call: what follows decides
	from  sources
	tail  tail
	tally *tally // nil: every event counts
	edges edges
	out   []utp.Event

	steady bool // the last piece flowed, and the line goes on
}

// flows reports whether text of a part goes on as it stands: nothing around it waits.
func (t *through) flows(part int) bool {
	s := &t.edges
	return s.begun == part && s.hold.raw == "" && s.trail.raw == "" && t.tail.idle() && t.tally == nil && t.from.idle()
}

// Through passes a native stream through the parser: its text and thinking are
// read for calls, all else goes on as it is, with Part renumbered. Thinking ends
// where its EventPartEnd, a call or a part in one piece stands, and words that might
// have become a call are text there. A call in thinking counts if nothing but the
// end of the reply follows. Of two equal calls, one native and one from text, the
// native one stays: see Expect. The Finish event closes the parser.
func (p *Parser) Through(e utp.Event) []utp.Event {
	t := p.through
	if e.Kind == utp.EventText && t.think == nil {
		if evs := p.flow(e.Text); evs != nil {
			bears(evs, e)
			return evs
		}
	}
	t.out, t.steady = t.out[:0], false
	if e.Kind == utp.EventFinish {
		return p.throughEnd(e)
	}
	p.pass(e)
	return t.edges.events(t.tally.events(t.out))
}

// bears gives what a provider says of a piece of text to the one event of it, if that
// is all of the piece.
func bears(out []utp.Event, e utp.Event) {
	if len(out) == 1 && out[0].Kind == utp.EventText && out[0].Text == e.Text {
		out[0].Extra = e.Extra
	}
}

func (p *Parser) pass(e utp.Event) {
	t := p.through
	if e.Kind != utp.EventText && e.Kind != utp.EventPartEnd && t.tail.hold != "" {
		p.fromText(p.feed(t.tail.flush()))
	}
	switch e.Kind {
	case utp.EventText:
		if !t.muses() || strings.TrimSpace(e.Text) != "" {
			p.endThink(false)
		}
		p.fromText(p.feedTail(e.Text))
		bears(t.out, e)
	case utp.EventThink:
		if t.tally != nil {
			t.tally.thinks = true
		}
		p.fromThink(e.Text)
	case utp.EventPartEnd:
		if t.muses() {
			t.ended = &e
			return
		}
		p.endThink(true)
		p.partEnd(e)
	case utp.EventCallStart, utp.EventWhole:
		p.endThink(false)
		p.settleHeld()
		p.settle()
		p.fromNative(e)
	default:
		p.fromNative(e)
	}
}

// throughEnd ends the reply.
func (p *Parser) throughEnd(e utp.Event) []utp.Event {
	t := p.through
	p.endThink(true)
	end := utp.End{}
	if e.End != nil {
		end = *e.End
	}
	p.fromText(p.close(end.Stop == utp.StopLength || end.Stop == utp.StopError))
	t.release()
	p.sendHeld()
	if len(t.from.sent) > 0 && (end.Stop == utp.StopEnd || end.Stop == "") {
		end.Stop = utp.StopTool
	}
	out := t.tally.last(t.out, end.Stop == utp.StopLength, p.now.part)
	e.End = &end
	return t.edges.end(append(out, e))
}

// fromNative passes an event on that is not text.
func (p *Parser) fromNative(e utp.Event) {
	t := p.through
	key := e.Part
	if e.Kind != utp.EventMark {
		p.breakText()
	}
	if e.Call != nil && e.Call.Source == "" {
		c := *e.Call
		c.Source = utp.SourceNative
		e.Call = &c
	}
	if w, ok := e.Value.(utp.Call); ok && e.Kind == utp.EventWhole {
		if w.Source == "" {
			w.Source = utp.SourceNative
			e.Value = w
		}
		w, prob := p.fitted(w)
		if prob != nil {
			t.out = append(t.out, misfit(p.nativePart(key), w, *prob, e.Raw))
			return
		}
		if e.Value = w; t.from.equal(&w) {
			return
		}
		t.from.took(&w)
	}
	e.Part = p.nativePart(key)
	if e.Kind == utp.EventCallStart && (p.cfg.Check || t.from.made(e.Call.Name, false)) {
		if t.from.native == nil {
			t.from.native = map[int]*held{}
		}
		t.from.native[key] = &held{}
	}
	h := t.from.native[key]
	if h == nil {
		t.out = append(t.out, e)
		if e.Kind == utp.EventCallEnd {
			t.from.took(e.Call)
		}
		return
	}
	h.add(e)
	if e.Kind == utp.EventCallEnd || e.Kind == utp.EventProblem {
		delete(t.from.native, key)
		h.events = p.fittedNative(h.events)
		switch e = h.events[len(h.events)-1]; {
		case e.Kind == utp.EventProblem:
		case t.from.equal(e.Call):
			return
		default:
			t.from.took(e.Call)
		}
		t.out = append(t.out, h.events...)
	}
}

// sendHeld lets go of native calls that never ended.
func (p *Parser) sendHeld() {
	t := p.through
	for _, h := range t.from.native {
		t.out = append(t.out, h.events...)
	}
	t.from.native = nil
}

func (p *Parser) nativePart(native int) int {
	t := p.through
	if t.parts == nil {
		t.parts = map[int]int{}
	}
	n, ok := t.parts[native]
	if !ok {
		n = p.now.part()
		t.parts[native] = n
	}
	return n
}

// settleHeld sends the calls that wait for what follows them: no words do.
func (p *Parser) settleHeld() {
	if p.tries.holding() && !p.cur.open {
		p.tries.out = p.tries.out[:0]
		p.settlePlace(true)
		p.fromText(p.tries.out)
	}
}

// settle gives out words that were held because they might have become a call:
// what stands after them is no text. What has brackets waits, as it may be one.
func (p *Parser) settle() {
	if p.hold == "" || p.st != inText || p.now.think != nil || p.cur.open || p.block.group != nil || strings.ContainsAny(p.hold, "{[(<") {
		return
	}
	p.tries.out = p.tries.out[:0]
	p.all, p.src, p.pos = p.hold, p.hold, len(p.hold)
	p.now.line = p.now.line && isBlank(p.all)
	p.text()
	p.advance()
	p.fromText(p.tries.out)
}

// breakText ends the open text part: something native stands after it.
func (p *Parser) breakText() {
	if !p.cur.open {
		p.now.textPart = -1
	}
}

// fromThink reads native thinking for calls.
func (p *Parser) fromThink(text string) {
	t := p.through
	if t.think == nil {
		p.settle()
		c := *p.cfg
		c.Prefill = ""
		t.think, _ = newParser(c, p.m, aReply)
		t.think.now.think = thinkOf(t.think.m)
		t.mind = 0
		p.breakText()
	}
	p.thinkEvents(t.think.feed(text))
}

// thinkOf is a grammar to close thinking by, where the text did not open it.
func thinkOf(m *machine) *gram {
	for _, g := range m.grams {
		if g.Think.Open != "" && !g.Quiet {
			return g
		}
	}
	return &gram{Grammar: &bareJSON}
}

// muses reports whether native thinking holds a call that what follows decides on.
func (t *through) muses() bool { return t.think != nil && t.think.tries.musing() }

// endThink ends native thinking. last says that nothing followed it, so that a
// call in it counts.
func (p *Parser) endThink(last bool) {
	t := p.through
	if t.think == nil {
		return
	}
	if t.muses() && !last {
		t.think.thought()
		t.think.advance()
	}
	p.thinkEvents(t.think.close(false))
	t.think = nil
	t.forget()
	if e := t.ended; e != nil {
		t.ended = nil
		p.partEnd(*e)
	}
}

// partEnd ends the latest native thinking, if there was more than a call in it.
func (p *Parser) partEnd(e utp.Event) {
	t := p.through
	if t.mind > 0 {
		t.release()
		e.Part = t.mind - 1
		t.out = append(t.out, e)
	}
}

// thinkParts is where the parts of native thinking are numbered from.
const thinkParts = -1 << 20

func (t *through) forget() {
	for k := range t.parts {
		if k < 0 {
			delete(t.parts, k)
		}
	}
}

func (p *Parser) thinkEvents(evs []utp.Event) {
	t := p.through
	for _, e := range evs {
		if e.Kind == utp.EventText {
			e.Kind = utp.EventThink
		}
		e.Part = p.nativePart(thinkParts + e.Part)
		if e.Kind == utp.EventThink {
			t.mind = e.Part + 1
		}
		p.fromText([]utp.Event{e})
	}
}
