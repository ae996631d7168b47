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

// cutOpener finds the opener of a call that the output ends in: of its markers only
// the first is there, or a part of the header of a message that is a call.
func (p *Parser) cutOpener(v scan.View, cand []int32) bool {
	if !v.End || p.now.think != nil || p.now.inline {
		return false
	}
	for _, i := range cand {
		o := &p.m.openers[i]
		if o.kind != openCall || o.declared || !o.steps[0].Strong {
			continue
		}
		if n, f := scan.MatchLiteral(v.S, o.steps[0].Lead); f == scan.Yes && scan.CountBlanks(v.S[n:]) == len(v.S)-n {
			p.text()
			p.openCall(o.g)
			p.now.leave()
			p.cutHere()
			return true
		}
	}
	return false
}

// cutHere ends the open call, and with it the output.
func (p *Parser) cutHere() {
	p.pos = len(p.src)
	p.fail(utp.Problem{Kind: utp.Truncated, Message: "the output ended inside the call"})
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
