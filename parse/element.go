package parse

import (
	"encoding/json"
	"strings"

	"github.com/unifiedtoolprotocol/utp/lenient"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// holder is what an open object or list is.
type holder int

const (
	aCall holder = iota // an object with a call's fields
	aList               // a list of calls
	args                // the arguments
)

// role is what the next value is.
type role int

const (
	elementRole role = iota // a call, or a list of them
	nameRole                // the name, or an object with the call's fields
	argsRole                // the arguments
	idRole
	listRole  // a list of calls
	argRole   // one argument
	placeRole // one argument, named by its place
	otherRole // a field that is no part of a call's shape
)

// sink takes the tokens of a value.
type sink int

const (
	noSink sink = iota
	argSink
	otherSink
	textSink
)

// other is a member of a call object that no shape knows.
type other struct {
	body.Field
	lone lone
}

// lone is what a value without a key is.
type lone int

const (
	keyed      lone = iota // it has one
	quotedCall             // a string that holds a call
	pairedCall             // (name, {arguments})
	placed                 // an argument without a place
)

// element reads one JSON or Python value that holds a call, or its arguments.
type element struct {
	r       lenient.Reader
	ended   bool // the reader was told that no more comes
	lost    bool // because a marker stands where its closers are due
	err     *lenient.SyntaxError
	stack   []holder
	role    role
	keyed   string // the key of the next value
	lone    lone   // or what it is without one
	sink    sink
	nest    int
	text    []byte // JSON-escaped, of a string being collected
	w       lenient.Writer
	others  []other
	early   json.RawMessage // arguments that came before the name
	nameKey string          // the key of the name
	argsKey string
	hasArgs bool
	byKey   bool // the key of the arguments is the tool's name
	begun   bool // arguments were begun
	index   int  // of positional arguments
	start   int  // offset of the element
	last    int  // where the last token ends, counted from start
	ahead   int  // bytes that the reader took beyond it
	list    bool // the element holds several calls
	first   bool // no key was read yet
	printed bool // print( stands around it
	primed  bool // it is read as an element of a list
	wrapped bool // its text may be a call
	alone   bool // f(…) that nothing but itself says is a call
	kept    bool // its result is assigned to a variable
	out     lookout
}

func (e *element) reset(o lenient.Options, r role, at int) {
	e.r.Reset(o)
	*e = element{out: lookout{string: at, closer: -1}, r: e.r, stack: e.stack[:0], text: e.text[:0], w: e.w, others: nil, role: r, first: true, start: at}
	e.w.Reset()
}

// mending is how much may be mended.
func (p *Parser) mending() lenient.Options {
	return lenient.Options{Strict: p.cfg.Repair == Off, Guess: p.cfg.Repair == Aggressive}
}

func (p *Parser) options(g *gram) lenient.Options {
	o := p.mending()
	o.Quote = g.Quote
	return o
}

// call begins an object that holds name and arguments.
func (e *element) call(p *Parser, g *gram) { e.reset(p.options(g), elementRole, p.at()) }

// args begins the arguments of a call whose name is known.
func (e *element) args(p *Parser, g *gram) { e.reset(p.options(g), argsRole, p.at()) }

// python begins f(…), x = f(…) or print(f(…)). As ordinary text it is Python to
// the letter, and the whole of its line.
func (p *Parser) python(v scan.View) {
	from, to, _ := p.pythonHead(v)
	name := v.S[from:to]
	if short := strings.TrimSuffix(name, ".call"); short != name && p.tools.declared(short) {
		name = short
	}
	p.setName(name)
	p.pos += to + scan.CountBlanks(v.S[to:])
	p.cur.plain = p.tries.trial().bare && p.tries.trying() || p.bareBlock()
	alone := p.cur.plain && p.block.group == nil && p.block.lists == 0
	if alone && p.tries.inTrial() {
		p.tries.trial().whole = true
	}
	opens := alone && from == 0 && !p.now.said() && p.reads != fenceText && p.cfg.Repair != Off
	p.cur.el.reset(lenient.Options{Python: true, Args: true, Strict: alone && p.reads != callText || p.cfg.Repair == Off, Words: opens, Guess: !alone && p.cfg.Repair == Aggressive}, argsRole, p.at())
	p.cur.el.printed = strings.HasPrefix(v.S[:from], "print") || strings.Contains(v.S[:from], "print(")
	p.cur.el.alone = alone
	p.cur.el.kept = alone && (from > 0 || p.cur.fenced && p.told(p.cur.g)) && !p.cur.el.printed && p.now.think == nil
}

// readElement feeds the value reader.
func (p *Parser) readElement() bool {
	e := p.cur.el
	for p.st == inElement {
		t := e.next(p)
		switch t.Kind {
		case lenient.More:
			if !e.more(p) {
				return false
			}
		case lenient.Done:
			e.done(p)
			return true
		case lenient.Fail:
			e.failed(p)
			return true
		default:
			if e.token(p, t); e.primed && len(e.others) > 0 {
				e.done(p)
				return true
			}
		}
	}
	return true
}

// more tells the reader that there is no more, or waits for it.
func (e *element) more(p *Parser) bool {
	switch {
	case e.ended:
		e.cutOff(p)
	case p.pos < len(p.src):
	case !p.end:
		if !p.watch() {
			p.flush()
		}
		return false
	default:
		e.ended = true
		e.r.End()
	}
	return true
}

// next is the reader's next token. The parser stands after it then, though the
// reader may have taken more to be certain of it: where a call ends must not
// depend on how the text arrived.
func (e *element) next(p *Parser) lenient.Token {
	s := ""
	if !e.ended {
		s = p.src[p.pos+e.ahead:]
	}
	t, n := e.r.Next(s)
	p.pos += e.ahead + n
	e.ahead = 0
	if t.Kind == lenient.More {
		return t
	}
	if err, ok := e.r.Err().(*lenient.SyntaxError); t.Kind == lenient.Fail && ok {
		e.last = max(e.last, err.Offset)
	} else {
		e.last = max(e.last, t.End())
	}
	if ahead := p.at() - e.start - e.last; ahead > 0 {
		e.ahead = p.back(ahead)
	}
	return t
}

// failed stops at what cannot be read. Where the value could have ended there,
// a marker of the block means that its closers were lost.
func (e *element) failed(p *Parser) {
	if p.cutString() {
		return
	}
	err, _ := e.r.Err().(*lenient.SyntaxError)
	switch {
	case e.ended && (p.cut || e.r.Cut()):
		e.cutOff(p)
	case err == nil:
		p.broken("cannot be read", "")
	case e.r.Boundary() && !e.ended:
		e.err, p.st = err, inLost
	default:
		p.broken(err.Error(), err.Want)
	}
}

// cutOff ends a call that the output ended in, with all that was read of it.
func (e *element) cutOff(p *Parser) {
	if p.cutString() {
		return
	}
	p.pos = len(p.src)
	p.truncated()
}

// readLost stands where the value broke off at a boundary: before a marker of
// the block its closers were lost, anything else breaks the call.
func (p *Parser) readLost() bool {
	e := p.cur.el
	switch scan.Fits(p.cur.g.bodyEnd, p.view()) {
	case scan.More:
		return false
	case scan.Yes:
		e.ended, e.lost = true, true
		e.r.End()
		p.st = inElement
	default:
		p.broken(e.err.Error(), e.err.Want)
	}
	return true
}

func (e *element) token(p *Parser, t lenient.Token) {
	switch t.Kind {
	case lenient.StringOpen:
		e.out.string, e.out.open = p.at(), true
	case lenient.StringClose:
		e.out.open = false
	}
	if e.sink != noSink {
		e.sinkToken(p, t)
		return
	}
	switch t.Kind {
	case lenient.Key:
		e.key(p, t.Text)
	case lenient.Positional:
		e.positional(p)
	case lenient.ObjectClose, lenient.ArrayClose:
		e.pop(p, t)
	default:
		e.value(p, t)
	}
}
