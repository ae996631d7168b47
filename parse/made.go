package parse

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// made is a call of this reply.
type made struct {
	name  string
	args  json.RawMessage // they are not changed any more; nil: not kept
	print string          // its Fingerprint, once it was asked for
	start int             // its offset
	block int             // that of its block
	plain bool            // it has no markers
	words int             // how often words were said before it
}

// equals reports whether two calls are equal. That of most is seen by their bytes.
func (m *made) equals(o *made) bool {
	switch {
	case m.name != o.name:
		return false
	case bytes.Equal(m.args, o.args) && m.args != nil:
		return true
	}
	return m.fingerprint() == o.fingerprint()
}

func (m *made) fingerprint() string {
	if m.print == "" {
		m.print = (&utp.Call{Name: m.name, Args: m.args}).Fingerprint()
	}
	return m.print
}

// maxMade is how many of the latest calls are compared.
const maxMade = 256

// maxKept is how many bytes of arguments are kept to compare; of calls with more
// only their Fingerprints are.
const maxKept = 16 << 20

// maxRepeats is how many blocks may repeat an earlier one; the last of them ends
// the reading.
const maxRepeats = 3

// history are the calls of the reply.
type history struct {
	calls  []made
	kept   int  // bytes of their arguments
	looped bool // they repeat each other again and again
}

// forget drops the calls from an offset on.
func (h *history) forget(start int) {
	n := len(h.calls)
	for n > 0 && h.calls[n-1].start >= start {
		n--
	}
	h.calls = h.calls[:n]
}

// note adds a call. It returns how many other blocks hold an equal one, and whether
// the last of them is more than a neighbour: words stand between, or this one says it
// again without its markers.
func (h *history) note(m made) (blocks int, apart bool) {
	last, block := -1, m.block
	if h.kept += len(m.args); h.kept > maxKept {
		m.fingerprint()
		m.args = nil
	}
	for i := range h.calls {
		if o := &h.calls[i]; o.block != m.block && o.equals(&m) {
			last = i
			if blocks == 0 || o.block != block {
				blocks, block = blocks+1, o.block
			}
		}
	}
	apart = last >= 0 && (h.calls[last].words != m.words || m.plain && !h.calls[last].plain)
	if h.calls = append(h.calls, m); len(h.calls) > maxMade {
		h.calls = slices.Delete(h.calls, 0, maxMade/2)
	}
	return blocks, apart
}

// repeated is what is wrong with a call that was made before: by a tool or a user,
// who only wrote it, or in this reply with words between. It notes one that is new.
// raw is its text.
func (p *Parser) repeated(c *utp.Call, start int, raw func() string) *utp.Problem {
	if p.reads != aReply {
		return nil
	}
	if len(p.cfg.Seen) > 0 && !p.cfg.Policy.Repeated && p.wasTold(c, raw()) {
		return &utp.Problem{Kind: utp.ProblemQuoted, Message: "the call is quoted from a tool result or a user message"}
	}
	blocks, apart := p.made.note(made{name: c.Name, args: c.Args, start: start, block: p.block.start, plain: p.cur.open && !p.cur.g.marked(), words: p.now.sofar.words})
	switch {
	case blocks >= maxRepeats:
		p.made.looped = true
		return &utp.Problem{Kind: utp.ProblemRepeated, Message: "it repeats an earlier call again and again; what follows is not read"}
	case apart:
		return &utp.Problem{Kind: utp.ProblemRepeated, Message: "it repeats an earlier call of the reply"}
	}
	return nil
}

// Looping reports whether the reply repeats its calls again and again, so that
// nothing more of it is read.
func (p *Parser) Looping() bool { return p.made.looped }
