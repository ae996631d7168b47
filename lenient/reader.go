package lenient

import (
	"strings"
	"unicode/utf8"
)

// state is what the next character may be.
type state uint8

const (
	sValue      state = iota // a value is due: at the root or after a colon
	sFirst                   // after [: a value or the end
	sItem                    // after a comma in an array
	sKeyFirst                // after {
	sKey                     // after a comma in an object
	sArgFirst                // after ( of an argument list
	sArg                     // after a comma in one
	sColon                   // after a key
	sArrow                   // after a = that stands for a colon
	sAfter                   // after a value in a container
	sString                  // in a string
	sGlue                    // between two literals of one string
	sWord                    // in a word or number
	sName                    // in an unquoted key
	sNameGap                 // after a name in an argument list
	sLine                    // in a comment to the end of the line
	sBlock                   // in a comment to */
	sLook                    // after a quote that may close or not
	sParen                   // after a ( that may be a tuple or not
	sBrace                   // after a { that may be a set or not
	sOwed                    // after a closer that fits the parent
	sOwedComma               // and a comma
	sStray                   // after a closer that fits nothing
	sStrayComma              // and a comma
	sDouble                  // after } of doubled braces, or a root that was repaired
	sDone
	sFail
)

// step reads from the start of w, at least one byte unless it changes the
// state or needs more. It takes m bytes; more means that the rest of w must be
// held until more has come, and is never said once the input has ended.
func (r *Reader) step(w string) (m int, more bool) {
	switch r.state {
	case sString:
		return r.text(w)
	case sWord:
		return r.bare(w)
	case sName:
		return r.name(w)
	case sLine, sBlock:
		return r.comment(w), false
	}
	if n := blanks(w); n > 0 {
		return n, false
	}
	switch r.state {
	case sOwed, sOwedComma, sStray, sStrayComma, sDouble:
		return r.tail(w[0]), false
	}
	return r.structure(w)
}

// extend takes bytes of w into the hold until the hold can be understood.
// With nothing left to take, it is understood as it is.
func (r *Reader) extend(w string) (n int) {
	switch {
	case r.state == sLook:
		for n < len(w) && r.verdict == undecided {
			r.verdict = r.look.step(w[n])
			n++
		}
		r.hold = append(r.hold, w[:n]...)
		if r.verdict == undecided {
			if !r.ended {
				return n
			}
			r.verdict = r.look.end()
		}
		r.state = sString
	case r.state == sParen:
		for n < len(w) && r.tuple.verdict == noShape {
			r.tuple.step(w[n])
			n++
		}
		r.hold = append(r.hold, w[:n]...)
		if r.tuple.verdict == noShape {
			if !r.ended {
				return n
			}
			r.tuple.verdict = isTuple
		}
		r.state = r.resume
	case r.state == sBrace:
		for n < len(w) && r.set.verdict == noSet {
			r.set.step(w[n])
			n++
		}
		r.hold = append(r.hold, w[:n]...)
		if r.set.verdict == noSet && !r.ended {
			return n
		}
		r.state = r.resume
	case len(w) > 0:
		r.hold, n = append(r.hold, w[0]), 1
		if r.hold[0] >= utf8.RuneSelf && !utf8.FullRune(r.hold) {
			return n
		}
	}
	r.back, r.hold = string(r.hold), r.hold[:0]
	return n
}

// structure reads one character outside strings and words.
func (r *Reader) structure(w string) (int, bool) {
	if r.o.Quote != "" && r.mayQuote() {
		switch prefix(w, r.o.Quote, r.ended) {
		case maybe:
			return 0, true
		case yes:
			if r.state == sAfter {
				return r.literalAfter(), false
			}
			r.foreign = true
			return r.open(literal, len(r.o.Quote)), false
		}
	}
	c, n := glyph(w, r.ended)
	if n == 0 {
		return 0, true
	}
	if isBlank(c) {
		r.mendOnce(oddBlank, w[:n], string(c))
		return n, false
	}
	switch c {
	case '/', '#':
		if m, more := r.commentOpen(c, w); m > 0 || more {
			return m, more
		}
	case '\\':
		return r.backslash(w)
	}
	if n > 1 && strings.IndexByte(",:{}[]", c) >= 0 && !r.mend(here, fullWidth, w[:n], string(c)) {
		return 0, false
	}
	switch r.state {
	case sKeyFirst, sKey:
		return r.key(c, w, n)
	case sArgFirst, sArg:
		return r.arg(c, w, n)
	case sNameGap:
		return r.nameGap(c, w)
	case sColon, sArrow:
		return r.colon(c, n), false
	case sAfter:
		return r.after(c, n), false
	case sGlue:
		return r.glue(c, w, n)
	}
	return r.value(c, w, n)
}

// mayQuote reports whether a string may begin here.
func (r *Reader) mayQuote() bool { return r.state <= sAfter || r.state == sGlue }

// value reads the beginning of a value.
func (r *Reader) value(c byte, w string, n int) (int, bool) {
	inArray := r.state != sValue
	switch {
	case r.o.Args && len(r.stack) == 0:
		if c == '(' {
			r.foreign = true
			return r.push(arguments, ObjectOpen, n), false
		}
		return r.fail(`"("`), false
	case c == '{' && r.o.Python && n == 1 && len(r.stack) > 0:
		return r.brace(w)
	case c == '{':
		return r.push(object, ObjectOpen, n), false
	case c == '[':
		return r.push(array, ArrayOpen, n), false
	case c == '(':
		return r.paren(w)
	case isQuote(c):
		return r.quoted(c, w, n)
	case c == ',' && inArray:
		return r.extraComma(n), false
	case isCloser(c) && inArray:
		return r.closer(c, n), false
	case wordStart(c) || r.o.Quote != "" && c > ' ' && !isCloser(c) && c != ',' && c != ':':
		r.begin()
		r.word.start(r.off)
		r.state = sWord
		return 0, false
	}
	return r.fail("a value"), false
}

// begin counts a value that is about to come.
func (r *Reader) begin() {
	switch r.state {
	case sFirst, sItem, sArgFirst, sArg:
		f := &r.stack[len(r.stack)-1]
		f.index, f.key, f.has = f.index+1, "", true
	}
	if r.state == sArgFirst || r.state == sArg {
		r.emit(Positional, "", 0)
	}
}

// valued: a value is complete.
func (r *Reader) valued() {
	r.state = sAfter
	if len(r.stack) == 0 {
		r.state = sDone
	}
}

// after reads what stands after a value in a container.
func (r *Reader) after(c byte, n int) int {
	f := &r.stack[len(r.stack)-1]
	top := f.kind
	switch {
	case c == ',' && top == group:
		return r.fail(`")" (a list in parentheses is ambiguous here)`)
	case c == ',':
		r.state, f.comma = behindComma(top), true
		return n
	case isCloser(c):
		return r.closer(c, n)
	case c == '/' || c == '#' || c == ':' || c == '`':
	case top == object && (isQuote(c) || isLetter(c)),
		top == array && (isQuote(c) || isDigit(c) || c == '-' || c == '{' || c == '['),
		top == arguments && isLetter(c):
		return r.uncommaed()
	}
	return r.fail(`"," or "` + string(closerOf(top)) + `"`)
}

// literalAfter meets a string of the dialect's own quotes after a value.
func (r *Reader) literalAfter() int {
	if top := r.stack[len(r.stack)-1].kind; top != object && top != array {
		return r.fail(`"," or "` + string(closerOf(top)) + `"`)
	}
	return r.uncommaed()
}

// uncommaed puts the comma in front of a key or value that stands without one.
func (r *Reader) uncommaed() int {
	f := &r.stack[len(r.stack)-1]
	if r.mend(inside, missingComma, "", ",") {
		r.state, f.comma = behindComma(f.kind), true
	}
	return 0
}

func behindComma(top frameKind) state {
	switch top {
	case object:
		return sKey
	case arguments:
		return sArg
	}
	return sItem
}

func (r *Reader) extraComma(n int) int {
	if !r.mend(inside, extraComma, ",", "") {
		return 0
	}
	return n
}

// finish is the end of the input with nothing left to read. It makes progress
// towards Done or Fail with every call.
func (r *Reader) finish() {
	switch r.state {
	case sAfter:
		r.invented = true
		r.missing()
	case sOwed, sStray:
		r.settle(false)
	case sDouble:
		r.valued()
	case sLine:
		r.state = r.resume
	case sWord:
		if s := trimBlanks(string(r.word.buf)); len(r.stack) == 0 || isLiteral(s) || r.word.gap && isNumber(s) {
			r.endWord("", 0)
			return
		}
		r.truncated("the rest of the word")
	default:
		r.truncated(r.due())
	}
}

func (r *Reader) truncated(want string) {
	r.cut = true
	r.fail(want)
}

// due says what was to come, for an input that ends too early.
func (r *Reader) due() string {
	switch r.state {
	case sString:
		return "the end of the string"
	case sBlock:
		return "*/"
	case sColon, sName, sNameGap:
		return `":"`
	case sKey, sKeyFirst:
		return "a key"
	case sArg, sArgFirst:
		return "an argument"
	}
	return "a value"
}

// push opens a container.
func (r *Reader) push(k frameKind, t Kind, n int) int {
	limit := r.o.MaxDepth
	if limit <= 0 {
		limit = defaultDepth
	}
	if len(r.stack) >= limit {
		return r.fail("fewer nested containers")
	}
	r.begin()
	if r.stack == nil {
		r.stack = make([]frame, 0, 4)
	}
	r.stack = append(r.stack, frame{kind: k, index: -1})
	r.state = [...]state{object: sKeyFirst, array: sFirst, set: sFirst, tuple: sFirst, arguments: sArgFirst, group: sValue}[k]
	if k >= tuple {
		r.round++
	}
	if k == group {
		r.groups++
	} else {
		r.emit(t, "", n)
	}
	return n
}

// emit queues a token that covers the next n bytes.
func (r *Reader) emit(k Kind, s string, n int) { r.put(spanning(k, s, r.off, r.off+n)) }

func (r *Reader) put(t Token) {
	r.queue[(r.first+r.queued)%len(r.queue)] = t
	r.queued++
}

func (r *Reader) pop() Token {
	t := &r.queue[r.first]
	out := *t
	t.Text = ""
	r.first = (r.first + 1) % len(r.queue)
	r.queued--
	return out
}

func (r *Reader) last() Token {
	k := Done
	if r.state == sFail {
		k = Fail
	}
	return Token{Kind: k, At: r.off}
}
