package parse

import "github.com/unifiedtoolprotocol/utp/grammar"

// readText passes text on up to the next opener.
func (p *Parser) readText() bool {
	if p.eof && p.pos == len(p.src) {
		return false
	}
	return p.scan()
}

// readThink passes reasoning on up to its closer or a call.
func (p *Parser) readThink() bool { return p.readText() }

// scan looks for the next byte that may begin a marker and decides there.
// Nothing is held back but what may still become a marker.
func (p *Parser) scan() bool {
	if p.line && p.at() >= p.noBare {
		if got := p.lineStart(); got != no {
			return got == yes
		}
	}
	s, i, from := p.src, p.pos, p.pos // from: where the line began, if p.line
	for ; i < len(s); i++ {
		c := s[i]
		if !p.m.hot[c] {
			continue
		}
		if c == '\n' {
			p.pos, from = i+1, i+1
			p.line, p.inline = true, false
			if p.at() >= p.noBare {
				p.text()
				return true
			}
			continue
		}
		p.line = p.line && isBlank(s[from:i])
		if c == '`' && p.think == nil {
			p.inline = !p.inline
			continue
		}
		p.pos = i
		switch p.open(p.line) {
		case yes:
			return true
		case more:
			p.text()
			return false
		}
	}
	p.line = p.line && isBlank(s[from:])
	p.pos = i
	p.text()
	return p.eof
}

func isBlank(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != ' ' && s[i] != '\t' {
			return false
		}
	}
	return true
}

// open decides what begins at p.pos. yes: it was taken; more: it may be an
// opener; no: it is text.
func (p *Parser) open(line bool) found {
	if p.inline || p.at() == p.noTry {
		return no
	}
	s := p.rest()
	var short bool
	p.cand, short = p.m.leads(p.cand[:0], s)
	best := p.choose(s, p.cand, line)
	if best.state != yes && short && !p.eof {
		best.state = more
	}
	if best.state == yes && short && !p.eof || best.state == yes && best.wait {
		best.state = more
	}
	switch best.state {
	case yes:
		p.begin(best)
	case more:
		if len(s) > maxHead {
			return no
		}
	case no:
		if best.broken > 0 && p.think == nil {
			p.text()
			p.refuse(best)
			return yes
		}
	}
	return best.state
}

// choice is the opener decided on, and where its body begins.
type choice struct {
	state  found
	wait   bool // a longer one may fit once more text is there
	o      *opener
	n      int // bytes of the opener
	caps   caps
	look   bool
	broken int     // a complete opener of this length without a body that could be a call
	first  *opener // its first marker's length, or all of it where it names the call
	named  *caps
}

// choose fits the candidates: the longest wins, then the grammar's rank.
func (p *Parser) choose(s string, cand []int32, line bool) choice {
	var best choice
	for _, i := range cand {
		o := &p.m.openers[i]
		if o.line && !line || p.think != nil && !p.inThinking(o) {
			continue
		}
		var c caps
		n, first, f := p.fit(o, s, &c)
		switch {
		case f == more:
			best.wait = true
		case f == yes && (best.state != yes || n > best.n || n == best.n && o.before(best.o)):
			best.state, best.o, best.n, best.caps = yes, o, n, c
		case f == no && first > best.broken && o.kind == openCall && o.steps[0].strong && !o.declared:
			best.broken, best.first, best.named = first, o, nil
			if n > 0 {
				best.named = &c
			}
		}
	}
	if best.state == no && best.wait {
		best.state = more
	}
	return best
}

// before reports whether o reads what b could read as well.
func (o *opener) before(b *opener) bool {
	if o.second != b.second {
		return b.second
	}
	if o.g == b.g && len(o.steps) == len(b.steps) && len(o.steps) > 0 {
		return len(o.steps[0].lead) > len(b.steps[0].lead)
	}
	return o.g.rank < b.g.rank
}

// inThinking reports whether an opener counts inside the open thinking.
func (p *Parser) inThinking(o *opener) bool {
	switch o.kind {
	case openCall:
		return (!o.line || o.g == p.think) && !p.think.Quiet && p.tried < maxTried && o.steps[0].strong
	case openThink, closeThink:
		return o.g == p.think || sameThink(o.g, p.think)
	case endMessage:
		return p.message == o.g
	case openHeader:
		return p.message == o.g
	}
	return false
}

func sameThink(a, b *gram) bool { return a.Think.Open != "" && a.Think.Open == b.Think.Open }

// fit matches all markers of an opener and looks at what follows. first is the
// length of its first marker when that one fits.
func (p *Parser) fit(o *opener, s string, c *caps) (n, first int, f found) {
	for i := range o.steps {
		if i > 0 {
			n += countBlanks(s[n:])
		}
		k, f := o.steps[i].match(s[n:], p.eof, c)
		if f != yes {
			return 0, first, f
		}
		if n += k; i == 0 {
			first = n
		}
	}
	if o.kind != openCall {
		return n, first, yes
	}
	return p.fitBody(o, s, n, first, c)
}

// fitBody asks whether what follows an opener can be its body. An opener that
// is a call beyond doubt gives its length as first though none follows.
func (p *Parser) fitBody(o *opener, s string, n, first int, c *caps) (int, int, found) {
	if o.named {
		switch name := p.nameOf(o.g, c); {
		case name == "" && enclosed(o):
			return n, n, no
		case name == "" || !p.mayCall(o, name):
			return 0, 0, no
		}
	}
	again, f := p.openedTwice(o, s[n:])
	if f == more {
		return 0, first, more
	}
	if f = p.look(o, s[n+again:], c); f == no && o.named && enclosed(o) {
		return n, n, no
	}
	if f != yes {
		return 0, first, f
	}
	return n + again, first, yes
}

// mayCall reports whether the name in an opener may be called: outside its
// group, and where the opener is ordinary text, only the name of an offered tool.
func (p *Parser) mayCall(o *opener, name string) bool {
	weak := o.declared || len(o.g.group.open) > 0 && !o.group && p.names != nil
	return !weak || p.declared(name)
}

// openedTwice counts openers that stand again where the body is due.
func (p *Parser) openedTwice(o *opener, s string) (int, found) {
	if len(o.steps) != 1 || !o.steps[0].strong || o.named {
		return 0, yes
	}
	blanks := countBlanks(s)
	var c caps
	n, f := o.steps[0].match(s[blanks:], p.eof, &c)
	if f == yes {
		return blanks + n, yes
	}
	return 0, map[found]found{no: yes, more: more}[f]
}

// look reports whether s can be the body that o asks for.
func (p *Parser) look(o *opener, s string, c *caps) found {
	s = s[countBlanks(s):]
	if s == "" {
		return p.atEnd(o, c)
	}
	if o.named && o.g.Body == grammar.Tagged {
		return p.lookTagged(o, s, c)
	}
	if o.named && o.g.Body == grammar.Args {
		return p.lookArgs(o, s, c)
	}
	if f := p.lookMarker(o.closers(), s); f == more {
		return more
	}
	return p.lookElement(s, o.declared)
}

// closers end a block that holds nothing.
func (o *opener) closers() []marker {
	if o.group {
		return o.g.group.close
	}
	return o.g.call.close
}

// atEnd decides an opener with nothing behind it.
func (p *Parser) atEnd(o *opener, c *caps) found {
	if !p.eof {
		return more
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

func (p *Parser) lookTagged(o *opener, s string, c *caps) found {
	if s[0] == '{' || c.closed {
		return yes
	}
	for _, list := range [][]marker{o.g.arg.open, o.g.group.close, o.g.call.open} {
		if f := p.lookMarker(list, s); f != no {
			return f
		}
	}
	return p.lookClose(o, s, c)
}

func (p *Parser) lookArgs(o *opener, s string, c *caps) found {
	if s[0] == '{' || s[0] == '[' || s[0] == '"' || o.g.Text != "" {
		return yes
	}
	for _, list := range [][]marker{o.g.arg.open, o.g.group.close} {
		if f := p.lookMarker(list, s); f != no {
			return f
		}
	}
	return p.lookClose(o, s, c)
}

// lookClose accepts a call without arguments: in its group, or with a name
// that was offered.
func (p *Parser) lookClose(o *opener, s string, c *caps) found {
	allowed := o.group || p.declared(p.nameOf(o.g, c)) || p.names == nil && enclosed(o)
	for i := range o.g.call.close {
		m := o.g.call.close[i].with(c)
		if _, f := m.match(s, p.eof, &caps{}); f == more || f == yes && allowed {
			return f
		}
	}
	return no
}

// enclosed reports whether a literal follows the name in the opener.
func enclosed(o *opener) bool {
	pieces := o.steps[len(o.steps)-1].pieces
	return pieces[len(pieces)-1].Kind == grammar.Literal
}

func (p *Parser) lookMarker(list []marker, s string) found {
	var c caps
	_, f := p.matchAny(list, s, &c)
	return f
}

// lookElement accepts the start of a JSON object, a call f(…), a pair, or a
// string that may hold one of them.
func (p *Parser) lookElement(s string, declared bool) found {
	for s != "" && (s[0] == '[' || s[0] == ',') {
		s = s[1:]
		s = s[countBlanks(s):]
	}
	if s == "" {
		if p.eof {
			return no
		}
		return more
	}
	switch s[0] {
	case '{':
		return yes
	case '"', '\'', '(':
		if declared {
			return no
		}
		return yes
	}
	return p.lookPython(s, declared)
}

// lookPython accepts f( and x = f(.
func (p *Parser) lookPython(s string, declared bool) found {
	from, to, f := p.pythonHead(s)
	if f == yes && declared && !p.declared(s[from:to]) {
		return no
	}
	if f == more && declared && p.names != nil && to == len(s) && !p.names.begins(s[from:to]) && !p.declared(s[from:to]) {
		return no
	}
	return f
}

// pythonHead finds the name in "f(" or "x = f(".
func (p *Parser) pythonHead(s string) (from, to int, f found) {
	for range 2 {
		to = from + word(s[from:])
		if to == from && to < len(s) || to-from > maxSlot || to > from && '0' <= s[from] && s[from] <= '9' {
			return 0, 0, no
		}
		next := to + countBlanks(s[to:])
		if next == len(s) {
			if p.eof {
				return from, to, no
			}
			return from, to, more
		}
		if s[next] == '(' {
			return from, to, yes
		}
		if s[next] != '=' || from > 0 {
			return 0, 0, no
		}
		from = next + 1
		from += countBlanks(s[from:])
	}
	return 0, 0, no
}
