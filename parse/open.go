package parse

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// begin takes the opener that was decided on.
func (p *Parser) begin(b choice) {
	if p.tries.musing() {
		switch {
		case b.o.kind == closeThink && p.tries.trial().think.thinkCloses(&b.o.steps[0]):
			p.thought()
			return
		case b.o.kind == openThink:
			p.tries.keep()
		}
	}
	p.text()
	if p.tries.holding() && b.o.kind != openCall {
		p.holdBefore(b.o)
	}
	switch b.o.kind {
	case openCall:
		p.beginBlock(b)
		return
	case openHeader:
		p.head = append(p.head[:0], p.rest()[:b.n]...)
		p.pos += b.n
		p.now.message, p.st = b.o.g, inHeader
		return
	case routeHeader:
		head := p.rest()[:b.n]
		p.pos += b.n
		p.now.message = b.o.g
		p.route(head)
		return
	}
	if b.o.kind == openResult && !p.answersCall(b.o.g) { // the words before it made text of the call
		p.tried.opener = p.at()
		return
	}
	if b.o.kind == openResult || b.o.kind == endReply && p.now.said() {
		p.ignoreRest(notOurs(p.rest()[:b.n]))
		return
	}
	p.pos += b.n
	p.mark()
	switch b.o.kind {
	case openDrop:
		p.dropTo, p.st = b.o.close, inDrop
	case openThink:
		if p.now.think == nil {
			p.enterThink(p.thinker(b.o))
		}
	case closeThink:
		if p.now.think == nil {
			p.now.sofar.muse(p.at())
		}
		p.toText()
	case dropNoise:
		if p.now.think != nil {
			p.toText()
		}
	case endMessage:
		p.now.leave()
		p.now.message, p.st = nil, inText
	}
}

// thinker is the grammar whose thinking a marker opens: of those that share it
// a preferred one.
func (p *Parser) thinker(o *opener) *gram {
	for _, g := range p.preferred {
		if g.thinkOpens(&o.steps[0]) {
			return g
		}
	}
	return o.g
}

func (p *Parser) enterThink(g *gram) {
	p.now.leave()
	p.now.think, p.st = g, inText
}

// beginBlock starts a group or a call.
func (p *Parser) beginBlock(b choice) {
	musing := p.now.think != nil && !(p.now.think.aloud && b.o.g.aloud)
	if bare := b.o.declared && !b.o.named; bare || musing {
		at := p.placeOf(p.mannerOf(b.o))
		p.tryCall(bare, at)
		p.tries.trial().whole = !p.now.line
	} else {
		p.holdBlock(p.placeOf(p.mannerOf(b.o)))
	}
	p.block.start, p.block.inLine = p.at(), !p.now.line
	p.openCall(b.o.g)
	p.pos += b.n
	p.cur.fenced, p.block.lists = b.o.call, 0
	p.now.leave()
	p.block.group = nil
	if b.o.group {
		p.block.group = b.o
	}
	p.body(b.o, b.caps)
}

// room is the memory that the calls of most replies take, in one piece.
type room struct {
	element
	value
	stack    [8]holder
	keys     [4]string
	raw, buf [firstRoom]byte
}

// firstRoom is what most calls, and most calls' arguments, take in bytes.
const firstRoom = 256

// openCall opens a call that has no name yet.
func (p *Parser) openCall(g *gram) {
	if p.cur.el == nil {
		r := new(room)
		p.cur.el, p.cur.val, r.element.stack = &r.element, &r.value, r.stack[:0]
		p.cur.raw, p.cur.buf, p.cur.keys = r.raw[:0], r.buf[:0], r.keys[:0]
	}
	p.cur = call{open: true, pending: true, g: g, closers: g.call.close, start: p.at(), raw: p.cur.raw[:0], buf: p.cur.buf[:0], keys: p.cur.keys[:0], argsAt: noArgs, args: argument{w: p.cur.args.w}, el: p.cur.el, val: p.cur.val}
	p.cur.args.w.Reset()
}

// body goes on to read what follows the opener of a call.
func (p *Parser) body(o *opener, c scan.Caps) {
	if c.Twice {
		p.fix("", "", "", "opened twice")
	}
	if !o.named {
		p.st = inGap
		return
	}
	p.named(o.g, c)
	switch {
	case c.Closed:
		p.finish()
	case o.g.Body == grammar.Args:
		p.st = inBody
	default:
		p.st = inTagged
	}
}

// named gives the open call its name.
func (p *Parser) named(g *gram, c scan.Caps) {
	p.cur.g, p.cur.closers = g, scan.Fill(g.call.close, &c)
	p.cur.el.argsKey = ""
	name := p.tools.nameOf(g, &c)
	if name == "" && p.tools.counted(g, &c) {
		p.cur.id, p.cur.counted = c.ID, true // its arguments name it
		return
	}
	if c.ID != name { // a mere name is no id
		p.cur.id = c.ID
	}
	p.setName(name)
}

// readBody finds out what the arguments of a call are written as.
func (p *Parser) readBody() bool {
	g := p.cur.g
	n, v := p.view().Blanks()
	if v.S == "" && v.Ask() == scan.More {
		return false
	}
	sameLine := !body.HasNewline(p.rest()[:n])
	if g.Line {
		head, ticks, f := body.Ticks(v)
		if f == scan.More {
			return false
		}
		p.cur.ticks, n, v = ticks, n+head, v.From(head)
	}
	if skip, f := body.ID(v); f == scan.More {
		return false
	} else if f == scan.Yes {
		_, id := v.Blanks()
		p.cur.id = strings.Clone(id.S[1:strings.IndexByte(id.S, ']')])
		n, v = n+skip, v.From(skip)
	}
	if p.bodyJSON(g, v, n) {
		return true
	}
	f := scan.Fits(g.arg.open, v)
	if f == scan.No {
		if f = scan.Fits(g.bodyEnd, v); f == scan.Yes {
			p.pos += n
			p.cur.balanced, p.st = true, inAfter
			return true
		}
	}
	if f == scan.More {
		return false
	}
	p.pos += n
	switch {
	case f == scan.Yes:
		p.st = inTagged
	case v.S == "" && v.End && (p.cut || p.now.message != nil || g.Body == grammar.Args && !g.Line):
		p.truncated()
	case v.S == "" && v.End, g.Text == "" && len(g.call.close) == 0 && p.now.message == nil, g.Text != "" && g.Line && !sameLine:
		p.finish()
	case g.Text != "":
		return p.plainBody(v)
	case p.now.message != nil && p.soleText() != "":
		p.openPlain(p.soleText())
	default:
		p.broken("the arguments are no object", "{")
	}
	return true
}

// bodyJSON begins arguments that are JSON.
func (p *Parser) bodyJSON(g *gram, v scan.View, n int) bool {
	if v.S == "" || v.S[0] != '{' && (v.S[0] != '[' && v.S[0] != '"' || g.Text != "" && !g.Line) {
		return false
	}
	p.pos += n
	p.st = inElement
	p.cur.el.args(p, g)
	return true
}

// soleText is the tool's only argument, if that is text.
func (p *Parser) soleText() string {
	key, _ := p.tools.Sole(p.cur.name)
	if key == "" || !p.tools.Kind(p.cur.name, key).Text() {
		return ""
	}
	return key
}

// refuse reports an opener that no call follows: it is text again, and with
// it, where it names the call, all up to the call's closer.
func (p *Parser) refuse(b choice) scan.Found {
	p.text()
	if p.placeOf(marked).shown {
		return scan.No
	}
	if p.tries.holding() {
		p.settlePlace(p.countsBefore("<", p.lineEnded()))
	}
	if b.named {
		p.text()
		b.o, b.n, b.caps = b.first, b.broken, b.lost
		p.beginBlock(b)
		p.broken("the arguments cannot be read", "")
		if p.cur.name == "" {
			p.cur.why = utp.Problem{Kind: utp.ProblemMissingName, Want: "the name of a tool"}
		}
		return scan.Yes
	}
	n, kind := b.broken, utp.ProblemMalformed
	blanks, v := p.viewAt(p.pos + n).Blanks()
	switch k, f := scan.Longest(b.first.g.closers, v, nil); f {
	case scan.More:
		return scan.More
	case scan.Yes:
		if n += blanks + k; b.lost.Name == "" && b.lost.ID == "" {
			kind = utp.ProblemEmpty
		}
	default:
		k, noise, f := p.refused(b.first, p.viewAt(p.pos+n))
		if f == scan.More {
			return scan.More
		}
		if n += k; noise {
			kind = utp.ProblemEmpty
		}
	}
	p.text()
	prob := utp.Problem{Kind: kind, Grammar: b.first.g.Name, Offset: p.at(), Raw: p.rest()[:n], Want: "a tool call"}
	p.pos += n
	p.send(&utp.Event{Kind: utp.EventProblem, Part: p.now.openPart(), Problem: &prob, Raw: p.take()})
	p.now.line = false
	return scan.Yes
}

// maxRefused is how many bytes after an opener its closer is looked for, and
// maxNoise how many may stand between a block's opener and the call in it.
const (
	maxRefused = 1 << 10
	maxNoise   = 128
)

// refused is how far words go that stand where a call is due: up to their closer,
// if that comes before another opener, else nothing of them. Between a block's
// opener and the opener of a call in it they are noise, unless a sentence leads to
// the block.
func (p *Parser) refused(o *opener, v scan.View) (n int, noise bool, f scan.Found) {
	g := o.g
	for i := 0; i < len(v.S) && i < maxRefused; i++ {
		if !g.skipHot[v.S[i]] {
			continue
		}
		at := v.From(i)
		n, f := scan.Longest(g.closers, at, nil)
		if f == scan.Yes {
			return i + n, false, scan.Yes
		}
		if next := scan.Fits(g.skipOpen, at); next == scan.Yes {
			if i < maxNoise && o.group && !p.placeOf(marked).leads && scan.Fits(g.call.open, at) == scan.Yes {
				return i, true, scan.Yes
			}
			return 0, false, scan.No
		} else if f = max(f, next); f == scan.More {
			return 0, false, scan.More
		}
	}
	if len(v.S) < maxRefused {
		return 0, false, v.Ask()
	}
	return 0, false, scan.No
}
