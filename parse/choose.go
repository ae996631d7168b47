package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// open decides what begins at p.pos. yes: it was taken; more: it may be an
// opener; no: it is text.
func (p *Parser) open(line bool) scan.Found {
	if p.at() == p.tried.opener {
		return scan.No
	}
	v := p.view()
	var short bool
	p.cand, short = p.m.trie.Leads(p.cand[:0], v.S)
	if len(p.cand) == 0 && !short {
		return scan.No
	}
	var best choice
	p.choose(&best, v, p.cand, line)
	if short && v.Ask() == scan.More {
		best.state = scan.More
	}
	if best.state != scan.No && p.now.inline {
		best.state = min(best.state, outside(v))
	}
	switch {
	case best.state == scan.Yes:
		p.begin(best)
	case best.state == scan.No && (p.cut || best.broken == 0) && p.cutOpener(v):
		return scan.Yes
	case best.state == scan.No && best.broken > 0 && p.now.think == nil && !p.now.inline:
		return p.refuse(best)
	}
	return best.state
}

// outside reports whether no backquote follows on the line: what looked like
// the beginning of code was none.
func outside(v scan.View) scan.Found {
	switch i := strings.IndexAny(v.S, "`\n"); {
	case i >= 0 && v.S[i] == '`':
		return scan.No
	case i >= 0 || v.End || v.Cut:
		return scan.Yes
	}
	return scan.More
}

// choice is the chosen opener, and where its body begins.
type choice struct {
	state  scan.Found
	o      *opener
	n      int // bytes of the opener
	caps   scan.Caps
	broken int     // a complete opener of this length without a body that could be a call
	first  *opener // that opener
	named  bool    // it names the call, and caps are its
	lost   scan.Caps
}

// choose fits the candidates, for the best of them: the longest wins, then the
// grammar's rank.
func (p *Parser) choose(best *choice, v scan.View, cand []int32, line bool) {
	wait := false
	for _, i := range cand {
		o := &p.m.openers[i]
		if p.now.program && o.declared && o.g.Body == grammar.Python {
			continue
		}
		if p.reads == othersText && (o.kind == openThink || o.kind == openResult) || o.kind == openResult && !p.answersCall(o.g) || o.declared && p.tries.inTrial() || o.line && !line || o.hinted && !p.prefers(o.g) && !p.answering(o) || o.first && !p.begins() && !p.prefers(o.g) || p.now.think != nil && !p.inThinking(o) {
			continue
		}
		var c scan.Caps
		n, first, f := p.fit(o, v, &c)
		switch {
		case f == scan.More:
			wait = true
		case f == scan.Yes && (best.state != scan.Yes || n > best.n || n == best.n && p.ranks(o, best.o)):
			best.state, best.o, best.n, best.caps = scan.Yes, o, n, c
		case f == scan.No && first > best.broken && o.kind == openCall && o.steps[0].Strong && !o.declared:
			best.broken, best.first, best.named, best.lost = first, o, n > 0, c
		}
	}
	if wait {
		best.state = scan.More
	}
}

// answering reports whether words of ReAct may count here though nobody said that
// the model writes so: they begin the reply, or end the thought that does.
func (p *Parser) answering(o *opener) bool {
	switch {
	case !p.cfg.Answers || !o.g.answers():
		return false
	case o.kind == closeThink:
		return p.now.think != nil
	}
	return o.kind == openThink && p.silent()
}

// silent reports whether nothing was said so far.
func (p *Parser) silent() bool {
	return !p.now.said() && strings.TrimSpace(string(p.carry)+p.src[p.covered():p.pos]) == ""
}

// comesToAnswer reports whether the thought at v comes to a final answer, before
// any call.
func comesToAnswer(g *gram, v scan.View) scan.Found {
	for {
		n := strings.IndexByte(v.S, '\n')
		if n < 0 {
			return v.Ask()
		}
		*v.Work += n
		line := v.From(n + 1)
		for _, at := range []scan.View{v.From(n), line} {
			if f := scan.Fits(g.think.close, at); f != scan.No {
				return f
			}
		}
		switch scan.Fits(g.call.open, line) {
		case scan.Yes:
			return scan.No
		case scan.More:
			return scan.More
		}
		v = line
	}
}

// answersCall reports whether results of g may be invented here: after a call,
// in its dialect or in a preferred one.
func (p *Parser) answersCall(g *gram) bool {
	return p.now.called && (g == p.cur.g || p.prefers(g))
}

// ranks reports whether o reads what b could read as well.
func (p *Parser) ranks(o, b *opener) bool {
	if a := p.prefers(o.g); a != p.prefers(b.g) {
		return a
	}
	if o.second != b.second {
		return b.second
	}
	if lead, other := len(o.steps[0].Lead), len(b.steps[0].Lead); lead != other && (o.g != b.g || len(o.steps) == len(b.steps)) {
		return lead > other
	}
	if o.g == b.g {
		return o.literals() > b.literals()
	}
	return o.g.rank < b.g.rank
}

// literals counts the pieces of an opener that are no slots.
func (o *opener) literals() (n int) {
	for _, m := range o.steps {
		for _, p := range m.Pieces {
			if p.Kind == grammar.Literal {
				n++
			}
		}
	}
	return n
}

// inThinking reports whether an opener counts inside the open thinking.
func (p *Parser) inThinking(o *opener) bool {
	switch o.kind {
	case openCall:
		return p.at() >= p.tried.thought && (!o.line || o.g == p.now.think || o.g.aloud && p.now.think.aloud) && !p.now.think.Quiet && !p.tried.spent() && o.steps[0].Strong
	case openThink:
		return p.now.think.thinkOpens(&o.steps[0])
	case closeThink:
		return p.now.think.thinkCloses(&o.steps[0])
	case dropNoise: // the prompt opened thinking, and the model answers without any
		return o.g == p.now.think && p.begins()
	case endMessage, openHeader, routeHeader:
		return p.now.message == o.g
	}
	return false
}

// fit matches all markers of an opener and looks at what follows. first is the
// length of its first marker when that one fits.
func (p *Parser) fit(o *opener, v scan.View, c *scan.Caps) (n, first int, f scan.Found) {
	for i := range o.steps {
		at := v.From(n)
		if i > 0 {
			var blanks int
			blanks, at = at.Blanks()
			n += blanks
		}
		k, f := o.steps[i].Match(at, c)
		if f != scan.Yes {
			return 0, first, f
		}
		if n += k; i == 0 {
			first = n
		}
	}
	switch {
	case o.hinted && o.kind == openThink && !p.prefers(o.g):
		return n, first, comesToAnswer(o.g, v.From(n))
	case o.first && !p.prefers(o.g):
		return n, first, closesHeader(o.g, v.From(n))
	case o.kind == routeHeader:
		if r, _ := p.routeOf(o.g, v.S[:n], false); r == nil {
			return 0, first, scan.No
		}
		return n, first, scan.Yes
	case o.text != "" && !strings.HasPrefix(v.S, o.text):
		return 0, first, scan.No
	case o.kind != openCall:
		return n, first, scan.Yes
	}
	return p.fitBody(o, v, n, first, c)
}

// fitBody asks whether what follows an opener can be its body. An opener that
// is a call beyond doubt gives its length as first though none follows.
func (p *Parser) fitBody(o *opener, v scan.View, n, first int, c *scan.Caps) (int, int, scan.Found) {
	at := v.From(n)
	if o.named {
		switch name := p.tools.nameOf(o.g, c); {
		case name == "" && p.tools.counted(o.g, c):
		case name == "" && o.enclosed():
			return n, n, scan.No
		case name == "" || !p.mayCall(o, name):
			return 0, 0, scan.No
		}
	}
	if o.line && !o.onLine(at) || o.declared && c.ID != "" && !inForm(o.g.ID, c.ID) {
		return 0, 0, scan.No
	}
	again, f := o.openedTwice(at)
	if f == scan.More {
		return 0, first, scan.More
	}
	if f = p.look(o, at.From(again), c); f == scan.No && o.named && o.enclosed() {
		return n, n, scan.No
	}
	if f != scan.Yes {
		return 0, first, f
	}
	c.Twice = again > 0
	return n + again, first, scan.Yes
}

// onLine reports whether a new line, an object or nothing stands after an
// opener that ends its line, where anything could be the call's text.
func (o *opener) onLine(v scan.View) bool {
	if o.g.Text == "" || len(o.steps) == 0 || !o.steps[len(o.steps)-1].Ends {
		return true
	}
	n, rest := v.Blanks()
	return rest.S == "" || rest.S[0] == '{' || body.HasNewline(v.S[:n])
}

// mayCall reports whether the name in an opener may be called: outside its
// group, and where the opener is ordinary text, only the name of an offered tool.
func (p *Parser) mayCall(o *opener, name string) bool {
	weak := o.declared || len(o.g.group.open) > 0 && !o.group && p.tools.known()
	if o.afterWord() && !p.tools.known() {
		return p.isTold(o.g)
	}
	return !weak || o.labelled() && !o.afterWord() && p.told(o.g) || p.tools.declared(name) && (!o.line || o.labelled() || p.tools.plainly(name))
}

// afterWord reports whether the name stands before all markup.
func (o *opener) afterWord() bool {
	return len(o.steps) > 0 && o.steps[0].Lead == "" && !isWord(o.steps[0])
}

// told reports whether the model was told to call in g: what it writes so is a
// call, if only one of a tool that does not exist.
func (p *Parser) told(g *gram) bool {
	return p.tools.known() && (len(p.m.grams) == 1 || p.prefers(g) || g.aloud && slices.ContainsFunc(p.preferred, func(o *gram) bool { return o.aloud }))
}

// openedTwice counts the bytes of an opener that stands again where the body is due.
func (o *opener) openedTwice(v scan.View) (int, scan.Found) {
	if len(o.steps) != 1 || !o.steps[0].Strong || o.named {
		return 0, scan.Yes
	}
	blanks, v := v.Blanks()
	var c scan.Caps
	switch n, f := o.steps[0].Match(v, &c); f {
	case scan.Yes:
		return blanks + n, scan.Yes
	case scan.More:
		return 0, scan.More
	}
	return 0, scan.Yes
}
