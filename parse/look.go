package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

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

// atEnd decides an opener with nothing after it.
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
		return body.ObjectBegins(v.From(1))
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
	case b == '{' && !p.tools.known() && o.afterWord():
		return namesNothing(v.From(1))
	case b == '{' && o.declared && o.g.Quote == "":
		return max(body.ObjectBegins(v.From(1)), p.lookKeyed(p.tools.nameOf(o.g, c), v.From(1)))
	case b == '[' && o.declared && o.g.Text == "":
		return body.ListBegins(v.From(1))
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

// namesNothing accepts what stands after the brace of arguments: a key, and none that
// holds the name of a call.
func namesNothing(v scan.View) scan.Found {
	_, v = v.Blanks()
	if f := body.ObjectBegins(v); f != scan.Yes || v.S[0] == '}' {
		return f
	}
	v = v.From(1)
	n := scan.Word(v.S)
	switch {
	case n == len(v.S) && n <= scan.MaxSlot:
		return v.Ask()
	case isNameKey(v.S[:n]):
		return scan.No
	}
	return scan.Yes
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
		to = from + scan.Word(v.S[from:])
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
