package parse

import (
	"slices"

	"github.com/unifiedtoolprotocol/utp"
)

// made is a call of this reply.
type made struct {
	print string // its Fingerprint
	start int    // its offset
	block int    // that of its block
	words int    // how often words were said before it
}

// maxMade is how many of the latest calls are compared.
const maxMade = 256

// maxRepeats is how many blocks may repeat an earlier one; the last of them ends
// the reading.
const maxRepeats = 3

// unmake forgets the calls from an offset on.
func (p *Parser) unmake(start int) {
	n := len(p.made)
	for n > 0 && p.made[n-1].start >= start {
		n--
	}
	p.made = p.made[:n]
}

// repeated is what is wrong with a call that was made before: by a tool or a user,
// who only wrote it, or in this reply with words between. It notes one that is new.
// raw is its text.
func (p *Parser) repeated(c *utp.Call, start int, raw func() string) *utp.Problem {
	if p.cfg.within {
		return nil
	}
	if len(p.cfg.Seen) > 0 && !p.cfg.Policy.Repeated && p.wasTold(c, raw()) {
		return &utp.Problem{Kind: utp.Quoted, Message: "it repeats what a tool or the user said"}
	}
	m := made{print: c.Fingerprint(), start: start, block: p.block, words: p.sofar.words}
	last, blocks, block := -1, 0, p.block
	for i := range p.made {
		if o := &p.made[i]; o.print == m.print && o.block != p.block {
			last = i
			if blocks == 0 || o.block != block {
				blocks, block = blocks+1, o.block
			}
		}
	}
	between := last >= 0 && p.made[last].words != m.words
	if p.made = append(p.made, m); len(p.made) > maxMade {
		p.made = slices.Delete(p.made, 0, maxMade/2)
	}
	switch {
	case last < 0:
		return nil
	case blocks >= maxRepeats:
		p.looped = true
		return &utp.Problem{Kind: utp.Repeated, Message: "it repeats an earlier call again and again; what follows is not read"}
	case between:
		return &utp.Problem{Kind: utp.Repeated, Message: "it repeats an earlier call of the reply"}
	}
	return nil
}

// Looping reports whether the reply repeats its calls again and again, so that
// nothing more of it is read.
func (p *Parser) Looping() bool { return p.looped }
