package lenient

// setShape is what a brace at the beginning of a Python value turned out to be.
type setShape uint8

const (
	noSet  setShape = iota // not known yet
	isSet                  // {1, 2}: a list
	notSet                 // all else
)

const maxSetLook = 256 // bytes

// setLook tells a set of literals from an object by what stands after its first
// element. Like look it never goes beyond a closer.
type setLook struct {
	verdict setShape
	str     passed
	item    bool // the first element was begun
	number  bool // it is a number
	size    int
}

func (l *setLook) step(c byte) {
	l.size++
	switch {
	case l.size > maxSetLook:
		l.verdict = notSet
	case l.str.quote != 0:
		if l.str.pass(c); isCloser(c) {
			l.verdict = notSet
		}
	case isBlank(c):
		l.number = false
	case isQuote(c) && !l.item:
		l.str.quote, l.item = c, true
	case l.item && (c == ',' || c == '}'):
		l.verdict = isSet
	case (isDigit(c) || c == '-' || c == '.') && l.item == l.number:
		l.item, l.number = true, true
	default:
		l.verdict = notSet
	}
}

// passed is a string that is passed over to see what stands after it.
type passed struct {
	quote byte // 0: it has ended
	skip  bool // a backslash stands before the next character
}

func (p *passed) pass(c byte) {
	switch {
	case p.skip:
		p.skip = false
	case c == '\\':
		p.skip = true
	case c == p.quote:
		p.quote = 0
	}
}

// brace reads a { at the beginning of a Python value.
func (r *Reader) brace(w string) (int, bool) {
	look := &r.set
	fresh := look.size == 0
	for i := 1; i < len(w) && look.verdict == noSet && fresh; i++ {
		look.step(w[i])
	}
	if look.verdict == noSet && !r.ended {
		r.resume, r.state = r.state, sBrace
		return 0, true
	}
	kind, token := object, ObjectOpen
	if look.verdict == isSet {
		kind, token = set, ArrayOpen
		r.foreign = true
	}
	*look = setLook{}
	return r.push(kind, token, 1), false
}
