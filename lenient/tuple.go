package lenient

// tupleShape is what a parenthesis at the beginning of a value turned out to be.
type tupleShape uint8

const (
	noShape tupleShape = iota
	isTuple
	isGroup // one string in parentheses
	isWord  // a number, literal or expression
)

const maxTupleLook = 256 // bytes

// tupleLook tells tuples from parenthesised values. Like look it never goes
// beyond a closer.
type tupleLook struct {
	verdict tupleShape
	first   byte
	str     passed
	comma   bool // a comma was seen in inner parentheses
	nest    int
	size    int
}

func (l *tupleLook) step(c byte) {
	l.size++
	switch {
	case l.size > maxTupleLook:
		l.verdict = l.single()
	case l.str.quote != 0:
		if l.str.pass(c); isCloser(c) {
			l.verdict = isGroup
		}
	case isBlank(c):
	case isQuote(c):
		l.first, l.str.quote = '"', c
	case isCloser(c):
		l.atCloser(c)
	case c == ',' && l.nest == 0:
		l.verdict = isTuple
	case c == ',':
		l.comma = true
	case l.first == 0 && (c == '[' || c == '{'):
		l.verdict = isTuple
	case c == '(':
		l.nest++
	}
	if l.first == 0 && !isBlank(c) {
		l.first = c
	}
}

func (l *tupleLook) atCloser(c byte) {
	l.verdict = l.single()
	if c != ')' || l.first == 0 || l.nest > 0 && (l.comma || l.first == '"') {
		l.verdict = isTuple
	}
}

func (l *tupleLook) single() tupleShape {
	if l.first == '"' {
		return isGroup
	}
	return isWord
}

// paren reads a ( at the beginning of a value.
func (r *Reader) paren(w string) (int, bool) {
	look := &r.tuple
	for i := 1; i < len(w) && look.verdict == noShape; i++ {
		look.step(w[i])
	}
	if look.verdict == noShape {
		if !r.ended {
			r.resume, r.state = r.state, sParen
			return 0, true
		}
		look.verdict = isTuple
	}
	shape := look.verdict
	*look = tupleLook{}
	r.foreign = true
	n, l := 1, inside
	switch shape {
	case isGroup:
		r.push(group, More, 1)
	case isTuple:
		r.push(tuple, ArrayOpen, 1)
	default:
		r.begin()
		r.word.start(r.off)
		r.state = sWord
		n, l = 0, here
	}
	if !r.o.Python {
		r.mend(l, parentheses, "(", "")
	}
	return n, false
}
