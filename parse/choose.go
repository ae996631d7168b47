package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
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
	best := p.choose(v, p.cand, line)
	if short && v.Ask() == scan.More {
		best.state = scan.More
	}
	if best.state != scan.No && p.now.inline {
		best.state = min(best.state, outside(v))
	}
	switch {
	case best.state == scan.Yes:
		p.begin(best)
	case best.state == scan.No && best.broken > 0 && p.now.think == nil && !p.now.inline:
		return p.refuse(best)
	case best.state == scan.No && p.cutOpener(v, p.cand):
		return scan.Yes
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

// choice is the opener decided on, and where its body begins.
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

// choose fits the candidates: the longest wins, then the grammar's rank.
func (p *Parser) choose(v scan.View, cand []int32, line bool) (best choice) {
	wait := false
	for _, i := range cand {
		o := &p.m.openers[i]
		if p.now.program && o.declared && o.g.Body == grammar.Python {
			continue
		}
		if p.reads == othersText && (o.kind == openThink || o.kind == openResult) || o.kind == openResult && !p.answersCall(o.g) || o.declared && p.tries.inTrial() || o.line && !line || o.hinted && !p.prefers(o.g) || o.first && !p.begins() && !p.prefers(o.g) || p.now.think != nil && !p.inThinking(o) {
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
	return best
}

// answersCall reports whether results of g may be invented here: behind a call,
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
	body := v.From(n)
	if o.named {
		switch name := p.tools.nameOf(o.g, c); {
		case name == "" && o.enclosed():
			return n, n, scan.No
		case name == "" || !p.mayCall(o, name):
			return 0, 0, scan.No
		}
	}
	if o.line && !o.onLine(body) || o.declared && c.ID != "" && !inForm(o.g.ID, c.ID) {
		return 0, 0, scan.No
	}
	again, f := o.openedTwice(body)
	if f == scan.More {
		return 0, first, scan.More
	}
	if f = p.look(o, body.From(again), c); f == scan.No && o.named && o.enclosed() {
		return n, n, scan.No
	}
	if f != scan.Yes {
		return 0, first, f
	}
	c.Twice = again > 0
	return n + again, first, scan.Yes
}

// onLine reports whether a new line, an object or nothing stands behind an
// opener that ends its line, where anything could be the call's text.
func (o *opener) onLine(v scan.View) bool {
	if o.g.Text == "" || len(o.steps) == 0 || !o.steps[len(o.steps)-1].Ends {
		return true
	}
	n, rest := v.Blanks()
	return rest.S == "" || rest.S[0] == '{' || hasNewline(v.S[:n])
}

// mayCall reports whether the name in an opener may be called: outside its
// group, and where the opener is ordinary text, only the name of an offered tool.
func (p *Parser) mayCall(o *opener, name string) bool {
	weak := o.declared || len(o.g.group.open) > 0 && !o.group && p.tools.known()
	return !weak || o.labelled() && p.told(o.g) || p.tools.declared(name) && (!o.line || o.labelled() || p.tools.plainly(name))
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

// look reports whether v can be the body that o asks for.
func (p *Parser) look(o *opener, v scan.View, c *scan.Caps) scan.Found {
	_, v = v.Blanks()
	switch {
	case v.S == "":
		return p.atEnd(o, v, c)
	case o.named && o.g.Body == grammar.Tagged:
		return p.lookTagged(o, v, c)
	case o.named && o.g.Body == grammar.Args:
		return p.lookArgs(o, v, c)
	}
	if f := scan.Fits(o.closers(), v); f == scan.More {
		return scan.More
	}
	return p.lookElement(v, o.declared)
}

// closers end a block that holds nothing.
func (o *opener) closers() []scan.Marker {
	if o.group {
		return o.g.group.close
	}
	return o.g.call.close
}

// atEnd decides an opener with nothing behind it.
func (p *Parser) atEnd(o *opener, v scan.View, c *scan.Caps) scan.Found {
	if !v.End {
		return v.Ask()
	}
	if bare := len(o.g.call.close) == 0 || o.g.Line; o.named && bare && o.g.Body == grammar.Args {
		name, _, ok := p.tools.resolve(p.tools.nameOf(o.g, c))
		if ok && !p.cut && p.tools.needsNothing(name) {
			return scan.Yes
		}
	}
	if o.call && !o.declared || o.group {
		return scan.Yes // an opened call that is cut off: judged where it is read
	}
	return scan.No
}

func (p *Parser) lookTagged(o *opener, v scan.View, c *scan.Caps) scan.Found {
	switch {
	case c.Closed:
		return scan.Yes
	case v.S[0] == '{' && o.line:
		return scan.No // a name and an object: name-json
	case v.S[0] == '{' && o.declared:
		return lookObject(v.From(1))
	case v.S[0] == '{':
		return scan.Yes
	}
	var arg scan.Caps
	if _, f := scan.Longest(o.g.arg.open, v, &arg); f == scan.More || f == scan.Yes && p.mayArgue(o.g, p.tools.nameOf(o.g, c), arg.Key) {
		return f
	}
	for _, list := range [...][]scan.Marker{o.g.argHead, o.g.group.close} {
		if f := scan.Fits(list, v); f != scan.No {
			return f
		}
	}
	if !o.line {
		if f := scan.Fits(o.g.call.open, v); f != scan.No {
			return f
		}
	}
	return p.lookClose(o, v, c)
}

func (p *Parser) lookArgs(o *opener, v scan.View, c *scan.Caps) scan.Found {
	switch b := v.S[0]; {
	case b == '{' && o.declared && o.g.Quote == "":
		return max(lookObject(v.From(1)), p.lookKeyed(p.tools.nameOf(o.g, c), v.From(1)))
	case b == '[' && o.declared && o.g.Text == "":
		return lookList(v.From(1))
	case b == '{', b == '[', b == '"', o.g.Text != "":
		return scan.Yes
	}
	for _, list := range [...][]scan.Marker{o.g.arg.open, o.g.group.close} {
		if f := scan.Fits(list, v); f != scan.No {
			return f
		}
	}
	return p.lookClose(o, v, c)
}

// lookObject accepts what stands behind the brace of an object in ordinary text.
func lookObject(v scan.View) scan.Found {
	_, v = v.Blanks()
	switch {
	case v.S == "":
		return v.Ask()
	case v.S[0] == '"', v.S[0] == '\'', v.S[0] == '}':
		return scan.Yes
	}
	return scan.No
}

// lookList accepts what stands behind the bracket of a list in ordinary text.
func lookList(v scan.View) scan.Found {
	_, v = v.Blanks()
	switch {
	case v.S == "":
		return v.Ask()
	case strings.IndexByte("{[\"'-0123456789]", v.S[0]) >= 0:
		return scan.Yes
	}
	return scan.No
}

// lookClose accepts a call without arguments: in its group, or with a name
// that was offered.
func (p *Parser) lookClose(o *opener, v scan.View, c *scan.Caps) scan.Found {
	name := p.tools.nameOf(o.g, c)
	allowed := o.group || p.tools.declared(name) || p.tools.meansNothing(name) || !p.tools.known() && o.enclosed()
	_, f := scan.Longest(scan.Fill(o.g.call.close, c), v, nil)
	if f == scan.Yes && !allowed {
		return scan.No
	}
	return f
}

// labelled reports whether words follow the name in the opener: no prose has
// "Action: x" and "Action Input:" below it.
func (o *opener) labelled() bool {
	pieces := o.steps[len(o.steps)-1].Pieces
	named := slices.IndexFunc(pieces, func(p grammar.Piece) bool { return p.Text == "name" && p.Kind == grammar.Slot })
	return named >= 0 && slices.ContainsFunc(pieces[named:], func(p grammar.Piece) bool {
		return p.Kind == grammar.Literal && strings.ContainsFunc(p.Text, scan.IsLetter)
	})
}

// enclosed reports whether a literal follows the name in the opener.
func (o *opener) enclosed() bool {
	pieces := o.steps[len(o.steps)-1].Pieces
	return pieces[len(pieces)-1].Kind == grammar.Literal
}

// lookElement accepts the start of a JSON object, a call f(…), a pair, or a
// string that may hold one of them.
func (p *Parser) lookElement(v scan.View, declared bool) scan.Found {
	for n := 0; v.S != "" && (v.S[0] == '[' || v.S[0] == ','); n++ {
		if n == maxLists {
			return scan.No
		}
		if f := p.lookListPair(v); f != scan.No {
			return f
		}
		_, v = v.From(1).Blanks()
	}
	if v.S == "" {
		return v.Ask()
	}
	switch v.S[0] {
	case '{':
		return scan.Yes
	case '"', '\'':
		if declared {
			return p.lookString(v.From(1))
		}
		return scan.Yes
	case '(':
		if declared {
			return p.lookPair(v.From(1))
		}
		return scan.Yes
	}
	return p.lookPython(v, declared)
}

// lookString accepts the start of a call that is written as a string.
func (p *Parser) lookString(v scan.View) scan.Found {
	for v.S != "" && v.S[0] == '\\' {
		v = v.From(1)
	}
	if v.S != "" && v.S[0] == '{' {
		return scan.Yes
	}
	return p.lookPython(v, true)
}

// maxLists is how many lists may open around a call.
const maxLists = 8

// lookPython accepts f( and x = f(.
func (p *Parser) lookPython(v scan.View, declared bool) scan.Found {
	from, to, f := p.pythonHead(v)
	if f == scan.Yes && declared && !p.tools.plainly(v.S[from:to]) {
		return scan.No
	}
	return f
}

// pythonHead finds the name in "f(", "x = f(" or "print(f(".
func (p *Parser) pythonHead(v scan.View) (from, to int, f scan.Found) {
	for range 3 {
		to = from + word(v.S[from:])
		switch {
		case to < len(v.S) && to == from, to-from > scan.MaxSlot, to > from && '0' <= v.S[from] && v.S[from] <= '9':
			return 0, 0, scan.No
		}
		blanks, next := v.From(to).Blanks()
		switch {
		case next.S == "":
			return from, to, v.Ask()
		case next.S[0] == '(' && (v.S[from:to] != "print" || !p.printable() || p.tools.declared("print")):
			return from, to, scan.Yes
		case next.S[0] != '(' && (next.S[0] != '=' || from > 0):
			return 0, 0, scan.No
		}
		from = to + blanks + 1
		blanks, _ = v.From(from).Blanks()
		from += blanks
	}
	return 0, 0, scan.No
}

// printable reports whether what stands here is a call for certain, so that print(
// around it means nothing.
func (p *Parser) printable() bool {
	return p.reads == fenceText || p.cur.open && p.cur.g.Body == grammar.Python && len(p.cur.g.call.close) > 0
}
