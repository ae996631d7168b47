package scan

// Found says how a marker fits the text at hand.
type Found int

const (
	No   Found = iota
	More       // it may fit once more text is there
	Yes
)

const (
	MaxSlot = 256  // bytes of a slot; a longer one is text
	MaxHead = 1024 // bytes that one decision may look at; what does not fit by then does not fit
)

// View is the text from some place on, as far as a decision may look. A
// decision depends on its view alone, so it is the same however the text
// arrived.
type View struct {
	S   string
	End bool // the output ends after S
	Cut bool // more text follows, but no decision looks at it

	Work *int // counts the bytes looked at
}

// ViewOf is the view of s, after which the output ends if end.
func ViewOf(s string, end bool, work *int) View {
	if len(s) > MaxHead {
		return View{S: s[:MaxHead], Cut: true, Work: work}
	}
	return View{S: s, End: end, Work: work}
}

// From is the view n bytes on.
func (v View) From(n int) View {
	v.S = v.S[n:]
	return v
}

// Blanks is the view past white space, and how much of that there is. Half a
// blank at the end of the text at hand is one until more is there.
func (v View) Blanks() (int, View) {
	n, open := Skip(v.S)
	*v.Work += n
	if open && !v.End {
		return n, v.From(len(v.S))
	}
	return n, v.From(n)
}

// Ask is the answer where s ended too early to tell.
func (v View) Ask() Found {
	if v.End || v.Cut {
		return No
	}
	return More
}

// Skip is CountBlanks; open says that the white space may go on after s.
func Skip(s string) (n int, open bool) {
	if s != "" && !blankStarts[s[0]] {
		return 0, false
	}
	n = CountBlanks(s)
	return n, n == len(s) || s[n:] == "\xC4" || s[n:] == `\`
}

// blankStarts are the bytes that white space begins with, as CountBlanks has it.
var blankStarts = [256]bool{' ': true, '\n': true, '\r': true, '\t': true, 0xC4: true, '\\': true}

// CountBlanks is the length of the white space that s starts with; the
// tokenizer blanks Ġ and Ċ count, and so does an escaped new line.
func CountBlanks(s string) int {
	i := 0
	for i < len(s) {
		switch c := s[i]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			i++
		case c == 0xC4 && i+1 < len(s) && (s[i+1] == 0xA0 || s[i+1] == 0x8A):
			i += 2
		case c == '\\' && i+1 < len(s) && s[i+1] == 'n':
			i += 2
		default:
			return i
		}
	}
	return i
}

// Word is the length of the identifier that s begins with: letters, digits,
// "_", "-", and after the first ".", ":", "/" and Markdown's "\_". A backslash at
// the end of s may begin the last.
func Word(s string) int {
	i := 0
	for i < len(s) && (IsNameByte(s[i]) || i > 0 && (s[i] == '.' || s[i] == ':' || s[i] == '/' || isMarked(s[i:]))) {
		i++
	}
	return i
}

func isMarked(s string) bool { return s[0] == '\\' && (len(s) == 1 || s[1] == '_') }

// Either is Yes where ok, else No.
func Either(ok bool) Found {
	if ok {
		return Yes
	}
	return No
}

// IsASCIILetter reports whether c is one of A to Z, in any case.
func IsASCIILetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
