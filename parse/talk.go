package parse

import (
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// talk is text about calls within the value of an argument. It opens arguments and
// closes them: where one closer more comes than it opened, that is the value's own.
// If the output ends before, the value's closer was lost, and what looked like a
// document are further arguments and calls.
type talk struct {
	start int    // its offset
	depth int    // of the arguments that are open, the value among them; 0: there is none
	held  []byte // what was read of it
	sure  bool   // it is too long to go back: it is content
	past  int    // the offset after which another may begin
}

// waits reports whether a talk may turn out to be none.
func (t *talk) waits() bool { return t.depth > 0 && !t.sure }

// closes notes an argument's closer, and reports whether it belongs to the talk.
func (t *talk) closes() bool {
	if t.depth > 0 {
		t.depth--
	}
	return t.depth > 0
}

// mayTalk reports whether a document may begin here.
func (p *Parser) mayTalk() bool {
	return p.cur.declared && p.kind().Text() && p.cur.val.talk.past <= p.at() && !p.tried.spent()
}

// beginsTalk reports whether v begins an argument or a call, as another one does
// where the value's closer was lost.
func (p *Parser) beginsTalk(g *gram, v scan.View) scan.Found {
	_, f := scan.Longest(g.arg.open, v, nil)
	if f == scan.Yes {
		if f = p.sameCloser(g, v); f == scan.Yes {
			return f
		}
	}
	if g.Line || len(g.call.open) == 0 || !g.call.open[0].Strong {
		return f
	}
	var c scan.Caps
	n, call := scan.Longest(g.call.open, v, &c)
	if call == scan.Yes {
		call = p.callGoesOn(g, &c, v.From(n))
	}
	return max(f, call)
}

// opensLike is the length of an argument's opener whose closer is that of the value.
func (p *Parser) opensLike(g *gram, v scan.View) (int, scan.Found) {
	n, f := scan.Longest(g.arg.open, v, nil)
	if f == scan.Yes {
		f = p.sameCloser(g, v)
	}
	return n, f
}

// sameCloser reports whether the argument that v opens closes as the value does.
func (p *Parser) sameCloser(g *gram, v scan.View) scan.Found {
	var c scan.Caps
	scan.Longest(g.arg.open, v, &c)
	own := scan.Fill(g.arg.close, &c)
	if len(own) == 0 || len(p.cur.val.close) == 0 || own[0].Lead != p.cur.val.close[0].Lead || c.Closed {
		return scan.No
	}
	return scan.Yes
}

// startTalk begins a text about calls.
func (p *Parser) startTalk() {
	p.cur.val.talk = talk{start: p.at(), depth: 1, held: p.cur.val.talk.held[:0], past: p.at() + 1}
}

// heldTalk keeps what is read of a text about calls. Once it is decided, what was
// kept is content, too.
func (p *Parser) heldTalk(text string) bool {
	t := &p.cur.val.talk
	if t.waits() {
		t.held = append(t.held, text...)
		if t.sure = len(t.held) > maxTrial; !t.sure {
			return true
		}
		text = ""
	}
	if len(t.held) > 0 {
		text = string(t.held) + text
		t.held = t.held[:0]
		p.addContent(text)
		return true
	}
	return false
}

// noTalk goes back to where a text about calls seemed to begin: the value's closer
// is missing there.
func (p *Parser) noTalk() {
	n := p.at() - p.cur.val.talk.start
	p.tried.bytes += n
	p.back(n)
	p.cur.val.talk = talk{past: p.at() + 1, held: p.cur.val.talk.held[:0]}
}
