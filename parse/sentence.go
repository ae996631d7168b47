package parse

import (
	"sync"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// inSentence is the opener of a JSON call that stands within a line.
var inSentence = sync.OnceValue(func() *opener { return &opener{g: compileGrammar(&bareJSON, 0), declared: true} })

// readsSentences reports whether JSON in the middle of a sentence may be a call: the
// dialect that was named writes its calls as JSON with no markers of their own.
func (p *Parser) readsSentences() bool {
	named := p.preferred
	if len(p.m.grams) == 1 {
		named = p.m.grams
	}
	for _, g := range named {
		if g.Body == grammar.JSON && g.Line && (g.fence || len(g.call.open)+len(g.group.open) == 0) {
			return p.tools.known()
		}
	}
	return false
}

// openSentence looks for a call of JSON within a line.
func (p *Parser) openSentence() scan.Found {
	if p.now.inline || p.now.think != nil || p.now.message != nil || p.tries.inTrial() || p.at() < p.tried.bare || p.at() == p.tried.opener || p.tried.spent() {
		return scan.No
	}
	f := p.lookElement(p.view(), true)
	if f == scan.Yes {
		p.beginBare(inSentence(), 0, scan.Caps{}, surely)
	}
	return f
}

// cutOpener finds the marker that the output ends in. Where nobody says that the
// output was cut off, it is a call's opener, and all of its first literal is there.
func (p *Parser) cutOpener(v scan.View) bool {
	if !v.End || p.now.think != nil || p.now.inline {
		return false
	}
	for i := range p.m.openers {
		o := &p.m.openers[i]
		if o.declared || o.message || !o.steps[0].Strong && o.kind != openHeader {
			continue
		}
		n, f := scan.MatchLiteral(v.S, o.steps[0].Lead)
		switch {
		case f == scan.No:
		case o.kind == openCall && (f == scan.Yes && n >= minCut && scan.CountBlanks(v.S[n:]) == len(v.S)-n || p.cutWithin(o, v)):
			p.cutIn(o)
			return true
		case o.kind == openHeader && f == scan.Yes && p.cut && p.begins() && p.cutHead(o, v):
			return true
		case o.kind != openCall && f == scan.More && p.cut && len(v.S) >= minCut && o.steps[0].Strong:
			p.text()
			p.pos = len(p.src)
			p.mark()
			return true
		}
	}
	return false
}

// minCut is how much of an opener tells that it was one.
const minCut = 4

// cutWithin reports whether the output was cut off within the markers of an opener.
func (p *Parser) cutWithin(o *opener, v scan.View) bool {
	if !p.cut || len(v.S) < minCut {
		return false
	}
	_, _, f := p.fit(o, scan.ViewOf(v.S, false, v.Work), new(scan.Caps))
	return f == scan.More
}

// cutHead ends the output in the header of a call at v.
func (p *Parser) cutHead(o *opener, v scan.View) bool {
	was := p.now.message
	p.text()
	p.head, p.now.message = p.head[:0], o.g
	if !p.cutHeader(v) {
		p.now.message = was
		return false
	}
	return true
}

// cutIn ends the output in an opener.
func (p *Parser) cutIn(o *opener) {
	p.text()
	p.openCall(o.g)
	p.now.leave()
	p.cutHere()
}

// cutHere ends the open call, and with it the output.
func (p *Parser) cutHere() {
	p.pos = len(p.src)
	p.fail(utp.Problem{Kind: utp.ProblemTruncated, Message: "the output ended inside the call"})
	p.now.message, p.st = nil, inText
	p.now.leave()
}

// cutHeader ends a header that the output ended in, if its message would have been a
// call.
func (p *Parser) cutHeader(v scan.View) bool {
	if !v.End || body.HasNewline(v.S) || !isHeader(v.S) {
		return false
	}
	r, c := p.routeOf(p.now.message, string(p.head)+v.S, false)
	if r == nil || r.As != grammar.CallRoute {
		return false
	}
	p.openCall(p.now.message)
	p.cur.start = p.at() - len(p.head)
	p.setName(p.tools.nameOf(p.now.message, c))
	p.now.leave()
	p.cutHere()
	return true
}
