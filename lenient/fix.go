package lenient

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Fix is one repair, in the form of utp.Fix; utp.Fixes makes a list of them of
// these.
type Fix struct {
	Path string `json:"path"`          // JSON pointer into the value; "" is all of it
	Was  string `json:"was,omitempty"` // as written
	Now  string `json:"now,omitempty"` // as used
	Why  string `json:"why"`           // for people: "trailing comma"

	Guess bool `json:"guess,omitempty"` // where a value begins or ends was not certain
}

// why is a kind of repair.
type why uint8

const (
	trailingComma why = iota
	missingComma
	extraComma
	missingColon
	equalsColon
	colonEquals
	singleQuotes
	backQuotes
	smartQuotes
	tripleQuotes
	escapedQuotes
	openingQuote
	innerQuote
	rawControl
	badEscape
	badUTF8
	joined
	stringPrefix
	comment
	fullWidth
	oddBlank
	escapedBlank
	bareKey
	bareWord
	foreignLiteral
	oddNumber
	expression
	parentheses
	doubledBrace
	missingCloser
	wrongCloser
	surplusCloser
)

// The Why of a Fix that callers ask for.
const (
	BareWord  = "unquoted string" // a word without quotes is a string
	BareKey   = "unquoted key"
	Evaluated = "expression evaluated" // 1+2
)

// whys are the texts of Fix.Why.
var whys = [...]string{
	trailingComma:  "trailing comma",
	missingComma:   "missing comma",
	extraComma:     "comma without a value",
	missingColon:   "missing colon",
	equalsColon:    "equals sign for a colon",
	colonEquals:    "colon for an equals sign",
	singleQuotes:   "single quotes",
	backQuotes:     "backquotes",
	smartQuotes:    "typographic quotes",
	tripleQuotes:   "triple quotes",
	escapedQuotes:  "escaped quotes around a string",
	openingQuote:   "missing opening quote",
	innerQuote:     "unescaped quote in a string",
	rawControl:     "raw control character in a string",
	badEscape:      "invalid escape",
	badUTF8:        "invalid UTF-8",
	joined:         "strings joined by +",
	stringPrefix:   "string prefix",
	comment:        "comment",
	fullWidth:      "full-width punctuation",
	oddBlank:       "odd character for a blank",
	escapedBlank:   "escaped white space outside a string",
	bareKey:        BareKey,
	bareWord:       BareWord,
	foreignLiteral: "literal of another language",
	oddNumber:      "number not as JSON writes it",
	expression:     Evaluated,
	parentheses:    "parentheses",
	doubledBrace:   "doubled brace",
	missingCloser:  "missing closer",
	wrongCloser:    "wrong closer",
	surplusCloser:  "surplus closer",
}

// guesses are the repairs that had to decide where a value begins or ends.
var guesses = [len(whys)]bool{openingQuote: true, innerQuote: true, bareWord: true}

const (
	maxFixes = 256 // one more says that there were more
	maxQuote = 64  // bytes of Was and Now
	maxKey   = 64  // bytes of a key in a pointer
)

// level says which place a Fix names.
type level uint8

const (
	here   level = iota // the current value
	inside              // the container on top
)

// mend notes a repair. In strict mode it fails instead and says false.
func (r *Reader) mend(l level, y why, was, now string) bool {
	if r.o.Strict {
		r.fail("what needs no repair (this does: " + whys[y] + ")")
		return false
	}
	if len(r.fixes) <= maxFixes {
		r.note(Fix{Path: r.pointer(l), Was: short(was, maxQuote), Now: short(now, maxQuote), Why: whys[y], Guess: guesses[y]})
	}
	return true
}

// mendOnce notes a repair at its first occurrence in the value.
func (r *Reader) mendOnce(y why, was, now string) bool {
	if bit := uint64(1) << y; r.told&bit == 0 {
		r.told |= bit
		return r.mend(inside, y, was, now)
	}
	return true
}

func (r *Reader) note(f Fix) {
	r.foreign = true
	switch n := len(r.fixes); {
	case n < maxFixes:
		r.fixes = append(r.fixes, f)
	case n == maxFixes:
		r.fixes = append(r.fixes, Fix{Why: "further repairs of the value are not listed"})
	}
}

// fail ends the reading at this byte, or at the beginning of the word that it
// belongs to. It takes nothing.
func (r *Reader) fail(want string) int {
	off := r.off
	switch r.state {
	case sFail:
		return 0
	case sWord, sName, sNameGap:
		off = r.word.at
	}
	r.resume, r.state = r.state, sFail
	r.err = &SyntaxError{Offset: off, Pointer: r.pointer(here), Want: want}
	return 0
}

// pointer names a place as a JSON pointer. Long keys are shortened.
func (r *Reader) pointer(l level) string {
	stack := r.stack
	if l == inside && len(stack) > 0 {
		stack = stack[:len(stack)-1]
	}
	if len(stack) == 0 {
		return ""
	}
	var b []byte
	for i := range stack {
		f := &stack[i]
		switch {
		case f.kind == group || !f.has:
		case f.kind == object || f.kind == arguments && f.key != "":
			b = append(append(b, '/'), pointerEscaper.Replace(f.key)...)
		default:
			b = strconv.AppendInt(append(b, '/'), int64(f.index), 10)
		}
	}
	return string(b)
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// short cuts s to about n bytes, at a character.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
