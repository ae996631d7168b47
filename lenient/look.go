package lenient

import (
	"strings"
	"unicode/utf8"
)

// verdict is what a quote inside a string turned out to be.
type verdict uint8

const (
	undecided verdict = iota
	closing           // it ends the string
	inner             // it is content
	glued             // it ends this literal, the string goes on with the next
	unclear           // it could be either
)

// phase is where a look stands.
type phase uint8

const (
	behind      phase = iota // after the quote
	behindGap                // after the comma
	inKey                    // in a quoted key
	behindKey                // after it
	inWord                   // in a name or bare word
	behindWord               // after it
	behindEqual              // after the = of an argument
	behindColon
	behindPlus
	behindSlash
	behindLess
	behindTick
	behindDot
)

const (
	maxGap  = 64 // blanks
	maxName = 64 // bytes of a key or word
)

// look decides about a quote by what follows, byte by byte. It is given at
// most two gaps of maxGap blanks and a key or word of maxName bytes, and never
// goes beyond a closer, so that nothing after the value is taken. In valid
// JSON every quote that can get here is closing, and look says so.
type look struct {
	phase  phase
	in     frameKind // the container
	key    bool      // the string is a key
	broken bool      // the string has inner quotes
	odd    bool      // an odd number of them
	deep   bool      // it has open brackets, which only counts if broken
	empty  bool      // it has no content
	python bool
	round  bool // a ) may close something

	comma bool // a comma was seen
	skip  bool // the next byte of the key or word is escaped
	delim byte // of the key
	smart bool // it is typographic
	now   bool // the character at hand is wide
	gap   int  // blanks in a row
	size  int  // of the key or word
	word  [5]byte
	wide  [4]byte // a character that is not complete
	nwide int
}

func (r *Reader) newLook() look {
	t := &r.str
	return look{in: r.stack[len(r.stack)-1].kind, key: t.key, broken: t.broken, odd: t.odd,
		deep: t.broken && t.depth > 0, empty: !t.some, python: r.o.Python, round: r.round > 0}
}

func (l *look) step(b byte) verdict {
	if l.nwide == 0 && b < utf8.RuneSelf {
		return l.char(b)
	}
	l.wide[l.nwide] = b
	l.nwide++
	w := string(l.wide[:l.nwide])
	c, n := glyph(w, false)
	if n == 0 {
		return undecided
	}
	l.nwide = 0
	if l.phase == inKey && isQuote(c) && !l.smart {
		c = other
	}
	l.now = n > 1
	v := l.char(c)
	l.now = false
	for i := n; i < len(w) && v == undecided; i++ {
		v = l.step(w[i])
	}
	return v
}

// end decides when nothing more comes.
func (l *look) end() verdict {
	switch {
	case l.phase == behind || l.comma:
		return closing
	case l.phase == behindLess || l.phase == behindTick:
		return closing
	}
	return inner
}

func (l *look) char(c byte) verdict {
	if isBlank(c) && l.phase != inKey && l.phase != inWord {
		if l.gap++; l.gap <= maxGap {
			return undecided
		}
		return l.either(l.phase == behind || l.comma)
	}
	switch l.phase {
	case behind:
		if l.key {
			return l.behindKeyQuote(c)
		}
		return l.behindQuote(c)
	case behindGap:
		return l.behindComma(c)
	case inKey:
		return l.inKey(c)
	case behindKey:
		return l.behindKey(c)
	case inWord:
		return l.inWord(c)
	case behindWord:
		return l.behindWord(c)
	case behindEqual:
		return l.either(c != '=')
	case behindColon:
		if isQuote(c) || isLetter(c) || isDigit(c) || c == '-' || c == '{' || c == '[' {
			return unclear // a value: so this was a key
		}
		return inner
	case behindPlus:
		if isQuote(c) {
			return glued
		}
		return inner
	case behindSlash:
		return l.either(c == '/' || c == '*')
	case behindLess:
		return l.either(l.gap == 0 && (c == '/' || c == '|' || c == other))
	case behindTick:
		return l.either(l.gap == 0 && c == '`') // a code fence
	}
	return l.behindDot(c)
}

func (l *look) either(closes bool) verdict {
	if closes {
		return closing
	}
	return inner
}

func (l *look) to(p phase) verdict {
	l.phase, l.gap, l.size = p, 0, 0
	return undecided
}

func (l *look) toKey(delim byte) verdict {
	l.delim, l.smart = delim, l.now
	return l.to(inKey)
}

// behindKeyQuote judges a quote in a key.
func (l *look) behindKeyQuote(c byte) verdict {
	switch {
	case c == ':' || c == '=' || c == ',' || isCloser(c) || c == '{' || c == '[' || c == '/':
		return closing
	case l.empty:
		return unclear
	case isQuote(c):
		return closing
	}
	return l.either(l.gap > 0 && (isDigit(c) || c == '-' || c == '#'))
}

// behindQuote judges a quote in a value by the next character.
func (l *look) behindQuote(c byte) verdict {
	switch {
	case isCloser(c):
		return l.either(!l.deep && (c != ')' || l.round))
	case l.deep:
		return inner
	case c == ',':
		l.comma = true
		return l.to(behindGap)
	case c == ':':
		return l.to(behindColon)
	case c == '=' && l.in == arguments:
		return unclear
	case l.broken:
		return inner
	case c == '`':
		return l.to(behindTick)
	case isQuote(c):
		return l.twoQuotes(c)
	case c == '+':
		return l.to(behindPlus)
	case c == '/':
		return l.to(behindSlash)
	case c == '#' && (l.gap > 0 || l.python):
		return closing
	case c == '<':
		return l.to(behindLess)
	case c == '.' && l.python:
		return l.to(behindDot)
	case l.gap == 0:
		return inner
	case isLetter(c) && (l.in == object || l.in == arguments):
		return l.to(inWord)
	case l.in == array:
		return l.either(isDigit(c) || c == '-' || c == '{' || c == '[')
	}
	return inner
}

// twoQuotes judges a quote that is followed by another, in a string without
// inner quotes so far: a missing comma, the next literal of the same string, or
// content.
func (l *look) twoQuotes(c byte) verdict {
	switch {
	case l.in == object:
		return l.toKey(c)
	case l.python:
		return glued
	case l.in == array && l.gap > 0:
		return closing
	}
	return unclear
}

// behindComma judges by what follows the comma.
func (l *look) behindComma(c byte) verdict {
	switch {
	case isCloser(c) || c == ',':
		return closing
	case isQuote(c):
		if l.in == object {
			return l.toKey(c)
		}
		if l.broken && l.odd {
			return unclear
		}
		return closing
	case isLetter(c):
		l.to(inWord)
		return l.inWord(c)
	case c == '/' || c == '#':
		return l.either(!l.broken)
	case l.in == object:
		if isDigit(c) {
			l.to(inWord)
			return l.inWord(c)
		}
		return inner
	}
	return l.either(isDigit(c) || strings.IndexByte("-+.{[(", c) >= 0)
}

// inKey passes a quoted key. A closer in it ends the look.
func (l *look) inKey(c byte) verdict {
	l.size++
	switch {
	case l.skip:
		l.skip = false
	case c == '\\':
		l.skip = true
	case c == l.delim:
		return l.to(behindKey)
	}
	if isCloser(c) || l.size > maxName {
		return l.either(l.comma)
	}
	return undecided
}

// behindKey: a colon proves that it was a key.
func (l *look) behindKey(c byte) verdict {
	switch {
	case c == ':' || c == '=':
		return closing
	case !l.comma:
		if l.python {
			return glued
		}
		return inner
	case l.broken:
		return inner
	case isQuote(c) || isDigit(c) || c == '{' || c == '[':
		return closing // missing colon
	}
	return unclear
}

// inWord passes a name or a bare word; Markdown writes its _ as \_.
func (l *look) inWord(c byte) verdict {
	if l.skip && c != '_' {
		return inner
	}
	if l.skip = c == '\\' && l.size > 0; l.skip {
		l.size++
		return undecided
	}
	if isLetter(c) || isDigit(c) || c == '-' || c == '.' {
		if l.size < len(l.word) {
			l.word[l.size] = c
		}
		if l.size++; l.size > maxName {
			return inner
		}
		return undecided
	}
	if l.comma && l.in != object && l.size <= len(l.word) && isLiteral(string(l.word[:l.size])) {
		return closing
	}
	l.phase = behindWord
	l.gap = 0
	return l.char(c)
}

// behindWord: in an object or an argument list it should have been a name, in
// an array anything up to the next comma.
func (l *look) behindWord(c byte) verdict {
	switch {
	case c == ':' && (l.in == object || l.in == arguments), c == '=' && l.in == object:
		return closing
	case isQuote(c) && l.python && l.comma && l.gap == 0 && l.size <= 2 && isPrefix(string(l.word[:l.size])):
		return closing
	case c == '=' && l.in == arguments:
		return l.to(behindEqual)
	case c == ',' || isCloser(c):
		return l.either(l.comma && l.in != object && !l.broken)
	case l.in == array && l.comma && !l.broken && isLetter(c):
		return l.to(inWord)
	}
	return inner
}

// behindDot: "…".name( is a method call, which nobody can evaluate here.
func (l *look) behindDot(c byte) verdict {
	switch {
	case l.gap > 0:
		return inner
	case c == '(' && l.size > 0:
		return unclear
	case isLetter(c) && l.size < maxName:
		l.size++
		return undecided
	}
	return inner
}
