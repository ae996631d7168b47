package parse

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

// manner is what the calls of a block are written in. It decides which places
// make them calls, and which make them text that shows calls: docs/dialects.md.
type manner int

const (
	surely   manner = iota // where it stands says that it is a call
	marked                 // markers of their own
	plainly                // ordinary text: JSON, f(…), name {…}
	labelled               // ordinary words at line starts, of a dialect that nobody named
	fenced                 // in a code fence
	coded                  // in backquotes that are the whole line
)

// place is where a block of calls stands, as far as that is known where it begins.
type place struct {
	manner manner
	shown  bool // it is shown, whatever follows
	opens  bool // no words stand before it in the reply
	leads  bool // words on its line lead into it
	glued  bool // without a blank between
}

const (
	maxShort = 512      // bytes of a block in markers that waits for what follows
	maxHeld  = 64 << 10 // bytes of any block that waits
)

// placeOf is the place of a block that begins here.
func (p *Parser) placeOf(m manner) place {
	l := &p.now.sofar
	if m == surely || p.reads != aReply || p.now.think != nil || p.tries.musing() || p.at() < 0 {
		return place{}
	}
	at := place{manner: m, shown: p.now.foreign || l.diff || m == marked && l.shows(), opens: l.words == l.mused, leads: l.leadsIn(), glued: l.touches()}
	if !at.shown && p.cfg.Policy.Shown && m != coded && m != labelled {
		return place{}
	}
	return at
}

// mannerOf is what an opener's calls are written in.
func (p *Parser) mannerOf(o *opener) manner {
	lead := ""
	if len(o.steps) > 0 {
		lead = o.steps[0].Lead
	}
	switch {
	case p.now.message != nil && p.st == inMessage:
		return surely
	case o.g.Line && strings.Contains(lead, ":"):
		if p.isTold(o.g) {
			return surely
		}
		return labelled
	case o.declared && (len(o.steps) == 0 || isWord(o.steps[0])):
		return plainly
	}
	return marked
}

// isTold reports whether somebody said that the text is of this grammar.
func (p *Parser) isTold(g *gram) bool { return p.prefers(g) || p.m.words == inFull }

// holdBlock begins a block that is read as calls, and waits for what follows it.
func (p *Parser) holdBlock(at place) {
	if p.joins(at) {
		return
	}
	if at.manner != surely {
		p.try(attempt{held: true, place: at})
	}
}

// joins reports whether a block at a place goes on with the one that waits. One
// that it does not go on with is made of calls, as more of them follow.
func (p *Parser) joins(at place) bool {
	if !p.tries.holding() {
		return false
	}
	switch was := p.tries.last().place; {
	case was.shown && at.shown,
		was.manner == marked && at.manner == marked && !p.lineEnded(),
		was.manner != marked && was.manner != labelled && at.manner != marked && at.manner != labelled && at.manner != surely:
		return true
	}
	p.settlePlace(true)
	return false
}

// accept ends a trial: it holds a call. Its block may have to wait for what follows.
func (p *Parser) accept() {
	n := len(p.tries.open) - 1
	t := &p.tries.open[n]
	switch {
	case n > 0 && p.tries.open[n-1].held:
		p.tries.merge()
	case t.place.manner == surely:
		p.tries.keep()
	default:
		t.held = true
	}
	p.relax()
}

// relax lets go of a block that is long, and of whose front there is no doubt.
func (p *Parser) relax() {
	if !p.tries.holding() {
		return
	}
	t := p.tries.last()
	end := p.at()
	if !p.cur.open {
		end = p.now.closedAt
	}
	front := t.place.manner == marked && (!t.place.leads || t.place.glued) && end-t.start > maxShort && !(p.cur.open && p.mayRepeat())
	if !t.place.shown && t.place.manner < fenced && (front || end-t.start > maxHeld) {
		p.settlePlace(true)
	}
}

// closed notes that a call or its block ends here, but for blanks of n bytes.
func (p *Parser) closed(blanks int) { p.now.closedAt = p.at() - blanks }

// lineEnded reports whether the line on which the last call ended has ended.
func (p *Parser) lineEnded() bool { return p.now.sofar.start > p.now.closedAt }

// meet decides on the block that waits, by the words after it that were consumed.
// It reports false where more of them must be seen.
func (p *Parser) meet() bool {
	after := string(p.carry) + p.src[p.covered():p.pos]
	words := strings.TrimLeft(after, " \t\r\n")
	ended := p.lineEnded() || strings.Contains(after[:len(after)-len(words)], "\n")
	t, glued := p.tries.last(), p.at()-len(words) == p.now.closedAt
	if words != "" && len(words) < maxLineHead {
		words += p.rest()[:min(len(p.rest()), maxLineHead)]
	}
	switch {
	case words == "" && ended:
		p.meetLine()
	case words == "":
	case !p.end && (t.place.manner == labelled && mayAnswer(words) || t.place.manner == marked && glued && words == "s"):
		return false
	case t.place.manner == marked && !t.place.shown && glued && touches(words):
		p.settlePlace(true)
	default:
		p.settlePlace(p.countsBefore(words, ended))
	}
	return true
}

// meetLine decides on the block that waits where its line ends after it.
func (p *Parser) meetLine() {
	t := p.tries.last()
	if !t.place.shown && (t.place.manner == marked || t.place.manner == plainly && t.place.opens) {
		p.settlePlace(true)
	}
}

// countsBefore reports whether a block counts as calls though words follow it.
// ended says that they stand on another line.
func (p *Parser) countsBefore(words string, ended bool) bool {
	t := p.tries.last()
	switch t.place.manner {
	case marked:
		return ended || t.place.glued || !t.place.leads && !inSmall(words)
	case plainly:
		if !ended {
			return p.cur.g.Body == grammar.JSON && p.isTold(p.cur.g)
		}
		return t.place.opens || p.soundBlock(t.from)
	case labelled:
		return ended && !answers(words) && p.soundBlock(t.from) && p.tries.objects(t.from)
	}
	return false
}

// inSmall reports whether words go on with a sentence.
func inSmall(words string) bool {
	r, _ := utf8.DecodeRuneInString(words)
	return unicode.IsLower(r) || strings.ContainsRune(`.,;)"'”’»`, r)
}

// touches reports whether words begin with a letter of a script that has blanks
// between words. An s alone makes a plural of the call before it.
func touches(words string) bool {
	r, n := utf8.DecodeRuneInString(words)
	next, _ := utf8.DecodeRuneInString(words[n:])
	return isCased(r) && (r != 's' || unicode.IsLetter(next))
}

// replies are the words that follow a call of ReAct.
var replies = [...]string{"observation", "final answer"}

// answers reports whether words are what follows a call of ReAct.
func answers(words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc(replies[:], func(r string) bool { return strings.HasPrefix(words, r) })
}

// mayAnswer reports whether words are the beginning of that.
func mayAnswer(words string) bool {
	words = strings.ToLower(words)
	return words != "" && slices.ContainsFunc(replies[:], func(r string) bool { return len(words) < len(r) && strings.HasPrefix(r, words) })
}

// soundBlock reports whether all calls that wait, from an event on, are sound and
// none was made before.
func (p *Parser) soundBlock(from int) bool {
	for i := range p.tries.waiting[from:] {
		switch e := &p.tries.waiting[from+i]; e.Kind {
		case utp.EventProblem:
			return false
		case utp.EventCallEnd:
			if !p.tools.sound(writtenName(e.Call), e.Call.Args) || !p.tools.knows(e.Call) || p.wasMade(e.Call) {
				return false
			}
		}
	}
	return true
}

// wasMade reports whether an equal call was made before in the conversation.
func (p *Parser) wasMade(c *utp.Call) bool { return slices.Contains(p.cfg.Made, c.Fingerprint()) }

// settlePlace ends the wait of a block: what it holds are calls, or text.
func (p *Parser) settlePlace(calls bool) {
	t := p.tries.last()
	if !t.place.shown && (calls || !p.tries.hasCall(t.from)) {
		p.tries.keep()
		return
	}
	var quoted *utp.Problem
	if !t.place.shown && t.place.manner == marked {
		quoted = &utp.Problem{Kind: utp.ProblemQuoted, Offset: max(t.start, 0), Message: "it is shown in a sentence, not made"}
	}
	p.disown(*t, quoted)
}

// settleRest decides on the block that waits where nothing counts any more after it.
func (p *Parser) settleRest() {
	if p.tries.holding() {
		p.settlePlace(true)
	}
}

// disown makes text of a block that waits. What was consumed after it is not its.
func (p *Parser) disown(t attempt, quoted *utp.Problem) {
	var b strings.Builder
	for i := range p.tries.waiting[t.from:] {
		e := &p.tries.waiting[t.from+i]
		b.WriteString(e.Raw)
		if quoted != nil && quoted.Name == "" && e.Call != nil {
			quoted.Name, quoted.Grammar = e.Call.Name, e.Call.Dialect()
		}
	}
	clear(p.tries.waiting[t.from:])
	p.tries.waiting = p.tries.waiting[:t.from]
	p.tries.merge()
	p.made.forget(t.start)
	p.now.called, p.now.nextPart, p.now.textPart = t.was.called, t.was.nextPart, t.was.textPart
	raw := b.String()
	block := strings.TrimRight(raw, " \t\r\n")
	if quoted != nil && block != "" {
		quoted.Raw = block
		p.send(&utp.Event{Kind: utp.EventProblem, Part: p.now.openPart(), Problem: quoted, Raw: block})
		raw = raw[len(block):]
	}
	if raw != "" {
		p.sendText(utp.EventText, p.now.openPart(), raw, raw)
	}
	p.now.sofar.words++
	if !p.lineEnded() {
		p.now.sofar.add("…")
	}
}

// trailing counts the blanks at the end of a call's text.
func trailing(raw []byte) int { return len(raw) - len(bytes.TrimRight(raw, " \t\r\n")) }

// holdBefore decides on the block that waits, by another marker after it: a
// message or what belongs to no text leaves it what it is.
func (p *Parser) holdBefore(o *opener) {
	switch o.kind {
	case openHeader, routeHeader:
		p.settlePlace(true)
	case openThink:
		p.settlePlace(p.countsBefore("<", true))
	}
}
