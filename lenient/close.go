package lenient

// frameKind is a kind of container.
type frameKind uint8

const (
	object    frameKind = iota // { }
	array                      // [ ]
	set                        // { } of Python, an array
	tuple                      // ( ) of Python, an array
	arguments                  // ( ) of an argument list, an object
	group                      // ( ) around one value, nothing
)

// frame is an open container and the place in it.
type frame struct {
	kind    frameKind
	has     bool   // the place is known
	comma   bool   // a comma was seen
	key     string // the current key, shortened
	index   int    // the current item
	doubled int    // surplus opening braces
}

func closerOf(k frameKind) byte {
	switch k {
	case object, set:
		return '}'
	case array:
		return ']'
	}
	return ')'
}

// closer reads a closing bracket: the right one, the one of an outer
// container, or one that fits nothing.
func (r *Reader) closer(c byte, n int) int {
	if (r.state == sKey || r.state == sItem || r.state == sArg) && !r.trailing() {
		return 0
	}
	top := len(r.stack) - 1
	at := top
	for at >= 0 && closerOf(r.stack[at].kind) != c {
		at--
	}
	switch {
	case at == top:
		return r.closeFit(n)
	case r.o.Strict:
		return r.fail(`"` + string(closerOf(r.stack[top].kind)) + `"`)
	case at < 0:
		r.state, r.stray = sStray, c
	case at == top-1:
		r.wanted = string(closerOf(r.stack[top].kind))
		r.pull(n)
		r.state, r.stray = sOwed, c
	default:
		r.down, r.lowered = top-at, true // then c is read again
		return 0
	}
	return n
}

// trailing takes note of a comma in front of a closer.
func (r *Reader) trailing() bool {
	r.foreign = true
	return r.o.Python || r.mend(inside, trailingComma, ",", "")
}

// closeFit closes the top container by its own closer.
func (r *Reader) closeFit(n int) int {
	f := r.stack[len(r.stack)-1]
	if f.kind == tuple && f.index == 0 && !f.comma {
		return r.fail(`"," (one value in parentheses is ambiguous)`)
	}
	r.pull(n)
	if f.doubled > 0 || r.lowered && len(r.stack) == 0 {
		r.state, r.doubles = sDouble, f.doubled
	}
	r.lowered = false
	return n
}

// missing closes the top container without a closer.
func (r *Reader) missing() {
	top := r.stack[len(r.stack)-1].kind
	if r.mend(inside, missingCloser, "", string(closerOf(top))) {
		r.pull(0)
	}
}

// pull takes the top container off; its close token covers the next n bytes.
func (r *Reader) pull(n int) {
	top := len(r.stack) - 1
	switch r.stack[top].kind {
	case group:
		r.groups--
	case object, arguments:
		r.emit(ObjectClose, "", n)
	case array, set, tuple:
		r.emit(ArrayClose, "", n)
	}
	if r.stack[top].kind >= tuple {
		r.round--
	}
	r.stack = r.stack[:top]
	r.valued()
}

// tail reads one character in a state that a closer left open. What follows
// the value is not taken.
func (r *Reader) tail(c byte) int {
	top := len(r.stack) - 1
	switch r.state {
	case sDouble:
		return r.tailDouble(c)
	case sOwedComma, sStrayComma:
		r.settleComma(c)
		return 0
	}
	stay := c == ',' && top == 0
	switch {
	case c == ',' && top > 0:
		r.state++ // sOwedComma, sStrayComma
		return 1
	case isCloser(c) && r.state == sOwed:
		stay = c == closerOf(r.stack[top].kind) && (top == 0 || c != closerOf(r.stack[top-1].kind))
	case isCloser(c):
		stay = c == closerOf(r.stack[top].kind) && top == 0
	case c != ',' && top > 0:
		return r.fail(`"," or a closer`)
	}
	r.settle(stay)
	return 0
}

func (r *Reader) tailDouble(c byte) int {
	switch {
	case c == '}' && r.doubles > 0:
		if r.doubles--; r.doubles == 0 {
			r.valued()
		}
		return 1
	case c == ',' && len(r.stack) == 0:
		return r.fail("the end of the value")
	}
	r.valued()
	return 0
}

// settle decides what the closer in r.stray was. stay: the container on top
// goes on. For sOwed that means that the closer had the wrong kind, else that a
// closer is missing; for sStray that it was surplus, else of the wrong kind.
func (r *Reader) settle(stay bool) {
	owed := r.state == sOwed || r.state == sOwedComma
	was := string(r.stray)
	top := r.stack[len(r.stack)-1].kind
	right := string(closerOf(top))
	ok := true
	switch {
	case owed && stay:
		ok = r.mend(here, wrongCloser, was, r.wanted)
	case owed:
		ok = r.mend(here, missingCloser, "", r.wanted)
	case stay:
		ok = r.mend(inside, surplusCloser, was, "")
	default:
		ok = r.mend(inside, wrongCloser, was, right)
	}
	if !ok {
		return
	}
	r.state = sAfter
	if !stay {
		r.pull(0)
	}
}

// settleComma decides by what follows the comma after a doubtful closer.
func (r *Reader) settleComma(c byte) {
	top := len(r.stack) - 1
	inner, outer := r.stack[top].kind, r.stack[top-1].kind
	word := isQuote(c) || isLetter(c)
	keyed := func(k frameKind) bool { return k == object || k == arguments }
	if keyed(inner) == keyed(outer) || inner == object && outer == arguments && isLetter(c) {
		r.fail("an unambiguous closer in front of the comma")
		return
	}
	stay := word == (inner == object)
	if outer == arguments {
		stay = !isLetter(c)
	}
	r.settle(stay)
	if r.state == sAfter {
		r.state = behindComma(r.stack[len(r.stack)-1].kind)
		r.stack[len(r.stack)-1].comma = true
	}
}
