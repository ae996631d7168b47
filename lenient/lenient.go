package lenient

import (
	"fmt"
)

// Options say what the input is. The zero value is JSON with repairs.
type Options struct {
	Quote    string // string delimiter beside " (`<|"|>`, `<escape>`); set: its content is literal, keys and scalars may be bare words without a Fix
	Python   bool   // Python literals are the native form and leave no Fix; without it they are read with one
	Args     bool   // the value is an argument list "(k=v, v2)", reported as an object
	Strict   bool   // no repair: what is not the native form is an error, but for \_ in an argument's name
	Words    bool   // with Strict: text without quotes is read all the same
	Guess    bool   // a quote that may end a string or be in it is in it; else it is an error
	MaxDepth int    // of containers; 0 is 200
}

const defaultDepth = 200

// Kind is what a Token says.
type Kind int32

const (
	More        Kind = iota // all input was taken; give more, or End
	ObjectOpen              // {, or ( of an argument list
	ObjectClose             // its end
	ArrayOpen               // [, or ( of a tuple
	ArrayClose              // its end
	Key                     // Text: the decoded key; its value follows
	Positional              // a value without keyword follows (argument lists only)
	StringOpen              // a string value begins
	StringPart              // Text: more of it, JSON-escaped, whole characters and whole escapes
	StringClose             // it ends
	Scalar                  // Text: a number as written, true, false or null
	Done                    // the value is complete; nothing after it was taken but blanks
	Fail                    // it cannot be read: see Err
)

var kindNames = [...]string{"more", "object", "object-close", "array", "array-close", "key", "positional",
	"string", "part", "string-close", "scalar", "done", "fail"}

// String gives a name for messages.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// Token is one step of a value. A token that was invented covers no bytes. It has
// four words, for a larger one is passed on in memory and not in registers.
type Token struct {
	Kind Kind
	size uint32 // in bytes of the input
	Text string // stays valid; a substring of the input where nothing had to change
	At   int    // offset of the bytes that it covers, counted from Reset
}

// End is the offset after the bytes that t covers.
func (t Token) End() int { return t.At + int(t.size) }

func spanning(k Kind, text string, at, end int) Token {
	return Token{Kind: k, size: uint32(end - at), Text: text, At: at}
}

// SyntaxError says why a value could not be read.
type SyntaxError struct {
	Offset  int    // of the offending byte, counted from Reset
	Pointer string // JSON pointer to where it stands
	Want    string // what should have stood there
}

// Error says where and what was wanted.
func (e *SyntaxError) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("offset %d: want %s", e.Offset, e.Want)
	}
	return fmt.Sprintf("offset %d (%s): want %s", e.Offset, e.Pointer, e.Want)
}

var _ error = (*SyntaxError)(nil)

// Reader reads one value, piece by piece. The zero Reader reads JSON with
// repairs. Wherever the input is cut, the tokens are the same up to where
// StringPart is split, and so are the fixes and the error.
type Reader struct {
	o      Options
	state  state
	resume state // after a comment, or before a failure
	stack  []frame
	queue  [4]Token // given one by one
	first  int      // of the queue
	queued int

	back string // taken, to be read again now that it can be understood
	hold []byte // taken, cannot be understood before more comes
	off  int    // bytes read; taken are those, back and hold

	str      text
	stops    *[256]int8 // of Options.Quote that starts with stopsFor
	stopsFor byte
	look     look
	verdict  verdict // on the quote that comes next in back
	tuple    tupleLook
	set      setLook
	word     bare

	ended, invented, cut, foreign, star bool

	stray   byte   // a closer of which it is not known what it closes
	wanted  string // the closer that should have stood there
	down    int    // containers to close before reading on
	lowered bool   // some were
	named   bool   // the key had no quotes
	round   int    // open containers that ) closes
	groups  int    // open groups
	doubles int    // closing braces still due from doubled ones
	fixes   []Fix
	told    uint64 // bits of why that are noted once a value
	err     *SyntaxError
}

// Reset makes the Reader ready for another value. It keeps its memory; slices
// that Fixes gave away stay as they are.
func (r *Reader) Reset(o Options) {
	*r = Reader{o: o, stack: r.stack[:0], hold: r.hold[:0],
		str: text{buf: r.str.buf[:0], fixes: r.str.fixes[:0]}, stops: r.stops, stopsFor: r.stopsFor, word: bare{buf: r.word.buf[:0]}}
}

// Next takes n bytes of s and gives the next token. Call it in a loop with
// s = s[n:] until it says More (all of s was taken), Done or Fail. A token may
// come with n = 0; Next("") is legal at any time. After Done or Fail it says so
// again and takes nothing.
func (r *Reader) Next(s string) (t Token, n int) {
	if r.state == sString && r.queued == 0 && r.back == "" && len(r.hold) == 0 && !r.str.key {
		if n = r.run(s); n > 0 { // the common case, without the queue
			t = spanning(StringPart, s[:n], r.off, r.off+n)
			r.off += n
			r.str.some = true
			return t, n
		}
	}
	for r.queued == 0 {
		switch {
		case r.state >= sDone:
			return r.last(), n
		case r.down > 0:
			r.down--
			r.missing()
		case r.back != "":
			m, more := r.step(r.back)
			r.off, r.back = r.off+m, r.back[m:]
			if more {
				r.hold, r.back = append(r.hold[:0], r.back...), ""
			}
		case len(r.hold) > 0:
			if n == len(s) && !r.ended {
				return Token{Kind: More}, n
			}
			n += r.extend(s[n:])
		case n < len(s):
			m, more := r.step(s[n:])
			r.off, n = r.off+m, n+m
			if more {
				r.hold, n = append(r.hold[:0], s[n:]...), len(s)
			}
		case !r.ended:
			return Token{Kind: More}, n
		default:
			r.finish()
		}
	}
	return r.pop(), n
}

// End says that no more input comes. Next("") then gives the remaining tokens:
// missing closers with a Fix where a value boundary was reached, else Fail.
// After a Fail at a Boundary (a marker stands where a comma or a closer should),
// End takes the value as it stood in front of the offending byte, and Next goes
// on; the input from the error's Offset on is then unread, taken or not.
func (r *Reader) End() {
	r.ended = true
	if r.state == sFail && r.Boundary() {
		r.state, r.err, r.back, r.hold = r.resume, nil, "", r.hold[:0]
	}
}

// Fixes lists the repairs so far, in order of the input.
func (r *Reader) Fixes() []Fix { return r.fixes }

// Err is nil or, after Fail, a *SyntaxError.
func (r *Reader) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Depth is the number of open containers.
func (r *Reader) Depth() int { return len(r.stack) - r.groups }

// InString reports whether the input stands inside a string or quoted key. It
// is false after a quote that may yet prove to be the closing one.
func (r *Reader) InString() bool { return r.state == sString }

// Boundary reports whether the value could end here with nothing but closers
// missing. After Fail: whether it could end in front of the offending byte.
func (r *Reader) Boundary() bool {
	s := r.state
	if s == sFail {
		s = r.resume
	}
	return s == sAfter || s == sOwed || s == sStray || s == sDouble || s == sDone || s == sLook && !r.str.key
}

// Offset is the number of bytes taken since Reset. Bytes that decide about a
// quote are taken before their tokens are given: see Token.End for those.
func (r *Reader) Offset() int { return r.off + len(r.back) + len(r.hold) }

// Closed reports, after Done, whether the value was closed by its own closers.
// It is false if End invented any.
func (r *Reader) Closed() bool { return r.state == sDone && !r.invented }

// Cut reports that End came where completing the value would be invention: in
// a string, a key, a number or half a word, after a colon, a comma or an opener.
func (r *Reader) Cut() bool { return r.cut }
