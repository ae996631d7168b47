package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// open decides what begins at p.pos. yes: it was taken; more: it may be an
// opener; no: it is text.
func (p *Parser) open(line bool) found {
	if p.at() == p.noTry {
		return no
	}
	v := p.view()
	var short bool
	p.cand, short = p.m.trie.leads(p.cand[:0], v.s)
	if len(p.cand) == 0 && !short {
		return no
	}
	best := p.choose(v, p.cand, line)
	if short && v.ask() == more {
		best.state = more
	}
	if best.state != no && p.inline {
		best.state = min(best.state, outside(v))
	}
	switch {
	case best.state == yes:
		p.begin(best)
	case best.state == no && best.broken > 0 && p.think == nil && !p.inline:
		return p.refuse(best)
	case best.state == no && p.cutOpener(v, p.cand):
		return yes
	}
	return best.state
}

// outside reports whether no backquote follows on the line: what looked like
// the beginning of code was none.
func outside(v view) found {
	switch i := strings.IndexAny(v.s, "`\n"); {
	case i >= 0 && v.s[i] == '`':
		return no
	case i >= 0 || v.end || v.cut:
		return yes
	}
	return more
}

// choice is the opener decided on, and where its body begins.
type choice struct {
	state  found
	o      *opener
	n      int // bytes of the opener
	caps   caps
	broken int     // a complete opener of this length without a body that could be a call
	first  *opener // that opener
	named  bool    // it names the call, and caps are its
	lost   caps
}

// choose fits the candidates: the longest wins, then the grammar's rank.
func (p *Parser) choose(v view, cand []int32, line bool) (best choice) {
	wait := false
	for _, i := range cand {
		o := &p.m.openers[i]
		if p.program && o.declared && o.g.Body == grammar.Python {
			continue
		}
		if p.anywhere && (o.kind == openThink || o.kind == openResult) || o.kind == openResult && !p.answersCall(o.g) || o.declared && p.inTrial() || o.line && !line || o.hinted && !p.prefers(o.g) || o.first && !p.begins() && !p.prefers(o.g) || p.think != nil && !p.inThinking(o) {
			continue
		}
		var c caps
		n, first, f := p.fit(o, v, &c)
		switch {
		case f == more:
			wait = true
		case f == yes && (best.state != yes || n > best.n || n == best.n && p.ranks(o, best.o)):
			best.state, best.o, best.n, best.caps = yes, o, n, c
		case f == no && first > best.broken && o.kind == openCall && o.steps[0].strong && !o.declared:
			best.broken, best.first, best.named, best.lost = first, o, n > 0, c
		}
	}
	if wait {
		best.state = more
	}
	return best
}

// answersCall reports whether results of g may be invented here: behind a call,
// in its dialect or in a preferred one.
func (p *Parser) answersCall(g *gram) bool {
	return p.called && (g == p.cur.g || p.prefers(g))
}

// begins reports whether nothing but one blank stands before.
func (p *Parser) begins() bool {
	switch p.at() {
	case 0:
		return true
	case 1:
		return p.before() == ' '
	}
	return false
}

// ranks reports whether o reads what b could read as well.
func (p *Parser) ranks(o, b *opener) bool {
	if a := p.prefers(o.g); a != p.prefers(b.g) {
		return a
	}
	if o.second != b.second {
		return b.second
	}
	if lead, other := len(o.steps[0].lead), len(b.steps[0].lead); lead != other && (o.g != b.g || len(o.steps) == len(b.steps)) {
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
		for _, p := range m.pieces {
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
		return p.at() >= p.closes && (!o.line || o.g == p.think || o.g.aloud && p.think.aloud) && !p.think.Quiet && p.tried < maxTried && o.steps[0].strong
	case openThink:
		return p.think.thinkOpens(&o.steps[0])
	case closeThink:
		return p.think.thinkCloses(&o.steps[0])
	case endMessage, openHeader, routeHeader:
		return p.message == o.g
	}
	return false
}

// fit matches all markers of an opener and looks at what follows. first is the
// length of its first marker when that one fits.
func (p *Parser) fit(o *opener, v view, c *caps) (n, first int, f found) {
	for i := range o.steps {
		at := v.from(n)
		if i > 0 {
			var blanks int
			blanks, at = at.blanks()
			n += blanks
		}
		k, f := o.steps[i].match(at, c)
		if f != yes {
			return 0, first, f
		}
		if n += k; i == 0 {
			first = n
		}
	}
	switch {
	case o.first && !p.prefers(o.g):
		return n, first, closesHeader(o.g, v.from(n))
	case o.kind == routeHeader:
		if r, _ := p.routeOf(o.g, v.s[:n], false); r == nil {
			return 0, first, no
		}
		return n, first, yes
	case o.text != "" && !strings.HasPrefix(v.s, o.text):
		return 0, first, no
	case o.kind != openCall:
		return n, first, yes
	}
	return p.fitBody(o, v, n, first, c)
}

// fitBody asks whether what follows an opener can be its body. An opener that
// is a call beyond doubt gives its length as first though none follows.
func (p *Parser) fitBody(o *opener, v view, n, first int, c *caps) (int, int, found) {
	body := v.from(n)
	if o.named {
		switch name := p.nameOf(o.g, c); {
		case name == "" && o.enclosed():
			return n, n, no
		case name == "" || !p.mayCall(o, name):
			return 0, 0, no
		}
	}
	if o.line && !o.onLine(body) || o.declared && c.id != "" && !inForm(o.g.ID, c.id) {
		return 0, 0, no
	}
	again, f := o.openedTwice(body)
	if f == more {
		return 0, first, more
	}
	if f = p.look(o, body.from(again), c); f == no && o.named && o.enclosed() {
		return n, n, no
	}
	if f != yes {
		return 0, first, f
	}
	c.twice = again > 0
	return n + again, first, yes
}

// onLine reports whether a new line, an object or nothing stands behind an
// opener that ends its line, where anything could be the call's text.
func (o *opener) onLine(v view) bool {
	if o.g.Text == "" || len(o.steps) == 0 || !o.steps[len(o.steps)-1].ends {
		return true
	}
	n, rest := v.blanks()
	return rest.s == "" || rest.s[0] == '{' || hasNewline(v.s[:n])
}

// mayCall reports whether the name in an opener may be called: outside its
// group, and where the opener is ordinary text, only the name of an offered tool.
func (p *Parser) mayCall(o *opener, name string) bool {
	weak := o.declared || len(o.g.group.open) > 0 && !o.group && p.tools != nil
	return !weak || o.labelled() && p.told(o.g) || p.declared(name) && (!o.line || o.labelled() || p.plainly(name))
}

// told reports whether the model was told to call in g: what it writes so is a
// call, if only one of a tool that does not exist.
func (p *Parser) told(g *gram) bool {
	return p.tools != nil && (len(p.m.grams) == 1 || p.prefers(g) || g.aloud && slices.ContainsFunc(p.preferred, func(o *gram) bool { return o.aloud }))
}

// openedTwice counts the bytes of an opener that stands again where the body is due.
func (o *opener) openedTwice(v view) (int, found) {
	if len(o.steps) != 1 || !o.steps[0].strong || o.named {
		return 0, yes
	}
	blanks, v := v.blanks()
	var c caps
	switch n, f := o.steps[0].match(v, &c); f {
	case yes:
		return blanks + n, yes
	case more:
		return 0, more
	}
	return 0, yes
}

// look reports whether v can be the body that o asks for.
func (p *Parser) look(o *opener, v view, c *caps) found {
	_, v = v.blanks()
	switch {
	case v.s == "":
		return p.atEnd(o, v, c)
	case o.named && o.g.Body == grammar.Tagged:
		return p.lookTagged(o, v, c)
	case o.named && o.g.Body == grammar.Args:
		return p.lookArgs(o, v, c)
	}
	if f := fits(o.closers(), v); f == more {
		return more
	}
	return p.lookElement(v, o.declared)
}

// closers end a block that holds nothing.
func (o *opener) closers() []marker {
	if o.group {
		return o.g.group.close
	}
	return o.g.call.close
}

// atEnd decides an opener with nothing behind it.
func (p *Parser) atEnd(o *opener, v view, c *caps) found {
	if !v.end {
		return v.ask()
	}
	if bare := len(o.g.call.close) == 0 || o.g.Line; o.named && bare && o.g.Body == grammar.Args {
		name, _, ok := p.resolve(p.nameOf(o.g, c))
		if ok && !p.cut && p.needsNothing(name) {
			return yes
		}
	}
	if o.call && !o.declared || o.group {
		return yes // an opened call that is cut off: judged where it is read
	}
	return no
}

func (p *Parser) lookTagged(o *opener, v view, c *caps) found {
	switch {
	case c.closed:
		return yes
	case v.s[0] == '{' && o.line:
		return no // a name and an object: name-json
	case v.s[0] == '{' && o.declared:
		return lookObject(v.from(1))
	case v.s[0] == '{':
		return yes
	}
	var arg caps
	if _, f := longest(o.g.arg.open, v, &arg); f == more || f == yes && p.mayArgue(o.g, p.nameOf(o.g, c), arg.key) {
		return f
	}
	for _, list := range [...][]marker{o.g.argHead, o.g.group.close} {
		if f := fits(list, v); f != no {
			return f
		}
	}
	if !o.line {
		if f := fits(o.g.call.open, v); f != no {
			return f
		}
	}
	return p.lookClose(o, v, c)
}

func (p *Parser) lookArgs(o *opener, v view, c *caps) found {
	switch b := v.s[0]; {
	case b == '{' && o.declared && o.g.Quote == "":
		return max(lookObject(v.from(1)), p.lookKeyed(p.nameOf(o.g, c), v.from(1)))
	case b == '[' && o.declared && o.g.Text == "":
		return lookList(v.from(1))
	case b == '{', b == '[', b == '"', o.g.Text != "":
		return yes
	}
	for _, list := range [...][]marker{o.g.arg.open, o.g.group.close} {
		if f := fits(list, v); f != no {
			return f
		}
	}
	return p.lookClose(o, v, c)
}

// lookObject accepts what stands behind the brace of an object in ordinary text.
func lookObject(v view) found {
	_, v = v.blanks()
	switch {
	case v.s == "":
		return v.ask()
	case v.s[0] == '"', v.s[0] == '\'', v.s[0] == '}':
		return yes
	}
	return no
}

// lookList accepts what stands behind the bracket of a list in ordinary text.
func lookList(v view) found {
	_, v = v.blanks()
	switch {
	case v.s == "":
		return v.ask()
	case strings.IndexByte("{[\"'-0123456789]", v.s[0]) >= 0:
		return yes
	}
	return no
}

// lookClose accepts a call without arguments: in its group, or with a name
// that was offered.
func (p *Parser) lookClose(o *opener, v view, c *caps) found {
	name := p.nameOf(o.g, c)
	allowed := o.group || p.declared(name) || p.meansNothing(name) || p.tools == nil && o.enclosed()
	_, f := longest(fill(o.g.call.close, c), v, nil)
	if f == yes && !allowed {
		return no
	}
	return f
}

// labelled reports whether words follow the name in the opener: no prose has
// "Action: x" and "Action Input:" below it.
func (o *opener) labelled() bool {
	pieces := o.steps[len(o.steps)-1].pieces
	named := slices.IndexFunc(pieces, func(p grammar.Piece) bool { return p.Text == "name" && p.Kind == grammar.Slot })
	return named >= 0 && slices.ContainsFunc(pieces[named:], func(p grammar.Piece) bool {
		return p.Kind == grammar.Literal && strings.ContainsFunc(p.Text, isLetter)
	})
}

// enclosed reports whether a literal follows the name in the opener.
func (o *opener) enclosed() bool {
	pieces := o.steps[len(o.steps)-1].pieces
	return pieces[len(pieces)-1].Kind == grammar.Literal
}

// lookElement accepts the start of a JSON object, a call f(…), a pair, or a
// string that may hold one of them.
func (p *Parser) lookElement(v view, declared bool) found {
	for n := 0; v.s != "" && (v.s[0] == '[' || v.s[0] == ','); n++ {
		if n == maxLists {
			return no
		}
		if f := p.lookListPair(v); f != no {
			return f
		}
		_, v = v.from(1).blanks()
	}
	if v.s == "" {
		return v.ask()
	}
	switch v.s[0] {
	case '{':
		return yes
	case '"', '\'':
		if declared {
			return p.lookString(v.from(1))
		}
		return yes
	case '(':
		if declared {
			return p.lookPair(v.from(1))
		}
		return yes
	}
	return p.lookPython(v, declared)
}

// lookString accepts the start of a call that is written as a string.
func (p *Parser) lookString(v view) found {
	for v.s != "" && v.s[0] == '\\' {
		v = v.from(1)
	}
	if v.s != "" && v.s[0] == '{' {
		return yes
	}
	return p.lookPython(v, true)
}

// maxLists is how many lists may open around a call.
const maxLists = 8

// lookPython accepts f( and x = f(.
func (p *Parser) lookPython(v view, declared bool) found {
	from, to, f := p.pythonHead(v)
	if f == yes && declared && !p.plainly(v.s[from:to]) {
		return no
	}
	return f
}

// pythonHead finds the name in "f(", "x = f(" or "print(f(".
func (p *Parser) pythonHead(v view) (from, to int, f found) {
	for range 3 {
		to = from + word(v.s[from:])
		switch {
		case to < len(v.s) && to == from, to-from > maxSlot, to > from && '0' <= v.s[from] && v.s[from] <= '9':
			return 0, 0, no
		}
		blanks, next := v.from(to).blanks()
		switch {
		case next.s == "":
			return from, to, v.ask()
		case next.s[0] == '(' && (v.s[from:to] != "print" || !p.printable() || p.declared("print")):
			return from, to, yes
		case next.s[0] != '(' && (next.s[0] != '=' || from > 0):
			return 0, 0, no
		}
		from = to + blanks + 1
		blanks, _ = v.from(from).blanks()
		from += blanks
	}
	return 0, 0, no
}

// printable reports whether what stands here is a call for certain, so that print(
// around it means nothing.
func (p *Parser) printable() bool {
	return p.inside || p.cur.open && p.cur.g.Body == grammar.Python && len(p.cur.g.call.close) > 0
}
