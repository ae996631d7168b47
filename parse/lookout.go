package parse

import "github.com/unifiedtoolprotocol/utp/parse/internal/scan"

// maxSuspect is how many bytes of a call wait after its own closer in a string,
// for the string to end.
const maxSuspect = 64 << 10

// lookout watches for the call's own closer inside a string that may never end:
// were it so, the string would swallow the calls that follow.
type lookout struct {
	open   bool // a string is being read
	string int  // offset after its quote
	closer int  // offset of the closer in it, or -1
	looked int  // up to here there is none
}

// watch looks for a closer in what was consumed, and reports whether its bytes
// must wait.
func (p *Parser) watch() bool {
	w := &p.cur.el.out
	if !w.open || len(p.cur.closers) == 0 {
		return false
	}
	if w.closer >= w.string {
		return p.at()-w.closer <= maxSuspect
	}
	from := max(w.looked, w.string, p.base+p.covered()-len(p.carry))
	if from = p.skipCold(from, &p.cur.g.skipHot); from >= p.at() {
		return false
	}
	s := p.consumed(from)
	for i := range len(s) {
		if !p.cur.g.skipHot[s[i]] {
			continue
		}
		switch _, f := scan.Longest(p.cur.closers, scan.ViewOf(s[i:], false, &p.work), nil); f {
		case scan.Yes:
			w.closer = from + i
			return true
		case scan.More:
			w.looked = from + i
			return true
		}
	}
	w.looked = p.at()
	return false
}

// cutString breaks the open call at its own closer, if that stands in a string
// that never ended. It reports whether it did.
func (p *Parser) cutString() bool {
	w := &p.cur.el.out
	p.watch()
	if w.closer < w.string || w.closer >= p.at() || w.closer < p.base+p.covered()-len(p.carry) || p.at()-w.closer > maxSuspect || !w.open {
		return false
	}
	p.back(p.at() - w.closer)
	p.broken("a string is never closed", `"`)
	return true
}
