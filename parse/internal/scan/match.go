package scan

import (
	"html"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

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
	End bool // the output ends behind S
	Cut bool // more text follows, but no decision looks at it

	Work *int // counts the bytes looked at
}

// ViewOf is the view of s, behind which the output ends if end.
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

// Match fits the marker to the start of v and notes what its slots hold.
// Literals fit in any case.
func (m *Marker) Match(v View, c *Caps) (int, Found) {
	i := 0
	for k := 0; k < len(m.Pieces); k++ {
		var n int
		var f Found
		switch p := &m.Pieces[k]; p.Kind {
		case grammar.Literal:
			n, f = MatchLiteral(v.S[i:], p.Text)
		case grammar.Space:
			n, f = matchBlanks(v.S[i:], k == len(m.Pieces)-1)
		case grammar.Slot:
			n, f = matchSlot(v.From(i), p.Text, m.After(k), c)
		case grammar.Attr:
			last := k
			for last+1 < len(m.Pieces) && m.Pieces[last+1].Kind != grammar.Literal {
				last++
			}
			n, f = matchAttrs(v.S[i:], m.Pieces[k:last+1], m.After(last), c)
			k = last
		}
		if f == More {
			*v.Work += len(v.S)
			return 0, v.Ask()
		}
		if *v.Work += n + 1; f == No {
			return 0, No
		}
		i += n
	}
	return i, Yes
}

// Longest fits the longest of the markers to the start of v; more as long as
// one of them may still fit.
func Longest(list []Marker, v View, c *Caps) (int, Found) {
	best, state := 0, No
	for i := range list {
		m := &list[i]
		if m.Lead != "" && v.S != "" && !m.Begins(v.S[0]) {
			continue
		}
		var got Caps
		n, f := m.Match(v, &got)
		if f == More {
			return 0, More
		}
		if f == Yes && (state != Yes || n > best) {
			best, state = n, Yes
			if c != nil {
				*c = got
			}
		}
	}
	return best, state
}

// Fits reports whether one of the markers stands at the start of v.
func Fits(list []Marker, v View) Found {
	_, f := Longest(list, v, nil)
	return f
}

// Begins reports whether the marker's literal may begin with b.
func (m *Marker) Begins(b byte) bool { return Lower(m.Lead[0]) == Lower(b) }

// After is the literal that follows piece k, past blanks.
func (m *Marker) After(k int) string {
	for k++; k < len(m.Pieces); k++ {
		if m.Pieces[k].Kind == grammar.Literal {
			return m.Pieces[k].Text
		}
		if m.Pieces[k].Kind != grammar.Space {
			break
		}
	}
	return ""
}

// Begun reports whether v begins with the marker's first literal.
func (m *Marker) Begun(v View) Found {
	_, f := MatchLiteral(v.S, m.Lead)
	if f == More {
		f = v.Ask()
	}
	return f
}

func MatchLiteral(s, lit string) (int, Found) {
	n := min(len(s), len(lit))
	for i := range n {
		if a, b := s[i], lit[i]; a != b && Lower(a) != Lower(b) {
			return 0, No
		}
	}
	if n < len(lit) {
		return 0, More
	}
	return n, Yes
}

func Lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func Upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

func matchBlanks(s string, last bool) (int, Found) {
	n, open := Skip(s)
	if open && !last {
		return 0, More
	}
	return n, Yes
}

// Skip is CountBlanks; open says that the white space may go on behind s.
func Skip(s string) (n int, open bool) {
	n = CountBlanks(s)
	return n, n == len(s) || s[n:] == "\xC4"
}

// CountBlanks is the length of the white space that s starts with; the
// tokenizer blanks Ġ and Ċ count.
func CountBlanks(s string) int {
	i := 0
	for i < len(s) {
		switch c := s[i]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			i++
		case c == 0xC4 && i+1 < len(s) && (s[i+1] == 0xA0 || s[i+1] == 0x8A):
			i += 2
		default:
			return i
		}
	}
	return i
}

// matchSlot reads a name, a key and so on up to the literal that follows it.
func matchSlot(v View, slot, next string, c *Caps) (int, Found) {
	s, start := v.S, 0
	if slot != "sfx" {
		start = CountBlanks(s)
	}
	end := start
	for end < len(s) && (inSlot(s[end], slot) || inTagKey(s[end:], slot, next)) && !(next != "" && strings.HasPrefix(s[end:], next)) {
		if end++; end-start > MaxSlot {
			return 0, No
		}
	}
	if slot == "name" && next == ">" && end > start {
		end = spacedName(s, end)
	}
	if end == len(s) && !v.End {
		return 0, More
	}
	text := s[start:end]
	if text != "" && text[len(text)-1] >= utf8.RuneSelf {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "Ċ"), "Ġ")
	}
	if !c.set(slot, text) {
		return 0, No
	}
	if next != "" {
		blanks, rest := v.From(end).Blanks()
		switch _, f := MatchLiteral(rest.S, next); {
		case f == Yes:
			end += blanks
		case f == More && !v.End:
			return 0, More
		}
	}
	return end, Yes
}

// spacedName is the end of a name with blanks in it that ">" ends, or of its first
// word.
func spacedName(s string, end int) int {
	for i := end; i < len(s) && i < end+MaxSlot; i++ {
		switch {
		case s[i] == '>':
			return i
		case s[i] != ' ' && !IsNameByte(s[i]):
			return end
		}
	}
	if len(s) < end+MaxSlot && end < len(s) && s[end] == ' ' {
		return len(s)
	}
	return end
}

// SlotEnds are the bytes that no name, type or id has.
var SlotEnds = func() (t [256]bool) {
	for _, b := range []byte(" \t\r\n<>{}[]()\"'=,|`*") {
		t[b] = true
	}
	return t
}()

func inSlot(b byte, slot string) bool {
	switch slot {
	case "any":
		return b != '>' && b != '\n'
	case "n":
		return '0' <= b && b <= '9'
	case "key":
		return b != '<' && b != '>' && b != '\n' && b != '"' && b != '=' && b != '{' && b != '|'
	case "sfx":
		return b > ' ' && b != '<' && b != '>'
	}
	return !SlotEnds[b]
}

// inTagKey reports whether the first byte of s may stand in a key that a closing tag
// Ends.
func inTagKey(s, slot, next string) bool {
	if slot != "key" || !strings.HasPrefix(next, "</") || s[0] != '<' && s[0] != '>' {
		return false
	}
	tag, _, _ := strings.Cut(next, ">")
	return !strings.HasPrefix(s, tag) && !strings.HasPrefix(tag, s)
}

func IsNameByte(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// Caps is what the slots of a marker held.
type Caps struct {
	Name, Key, Typ, ID string
	Closed             bool // an element that closed itself: "/>"
	Twice              bool // the opener stood there twice
}

// set keeps a slot's text; it reports false if the slot may not be so.
func (c *Caps) set(slot, text string) bool {
	switch slot {
	case "name":
		c.Name = text
		return text != ""
	case "key":
		c.Key = strings.TrimSpace(text)
		return !strings.HasPrefix(text, "/")
	case "type":
		c.Typ = text
	case "id":
		c.ID = text
		return text != ""
	case "n":
		return text != ""
	case "sfx":
		return text == "" || text[0] == ':' && len(text) > 1
	}
	return true
}

// matchAttrs reads attributes in any order, up to next or "/" before it.
// Of those wanted only type may be missing.
func matchAttrs(s string, want []grammar.Piece, next string, c *Caps) (int, Found) {
	i, missing := 0, required(want)
	for {
		n, open := Skip(s[i:])
		if i += n; open {
			return 0, More
		}
		at := i
		if s[i] == '/' {
			at++
		}
		if _, f := MatchLiteral(s[at:], next); f == More {
			return 0, More
		} else if f == Yes {
			c.Closed = at > i
			break
		}
		n, name, value, f := matchAttr(s[i:])
		if f != Yes {
			return 0, f
		}
		took, ok := c.attr(want, name, value)
		if !ok {
			return 0, No
		}
		missing -= took
		i += n
	}
	if missing > 0 {
		return 0, No
	}
	if c.Closed {
		i++
	}
	return i, Yes
}

// required counts the attributes that may not be missing.
func required(want []grammar.Piece) (n int) {
	for _, w := range want {
		if w.Kind == grammar.Attr && w.Text != "type" {
			n++
		}
	}
	return n
}

// attr keeps an attribute that is wanted; n is 1 if it is a required one.
func (c *Caps) attr(want []grammar.Piece, name, value string) (n int, ok bool) {
	for _, w := range want {
		if w.Kind != grammar.Attr || !strings.EqualFold(w.Name, name) {
			continue
		}
		if !c.set(w.Text, html.UnescapeString(value)) {
			return 0, false
		}
		if w.Text != "type" {
			n++
		}
	}
	return n, true
}

// matchAttr reads one x="y", x='y' or x=y.
func matchAttr(s string) (n int, name, value string, f Found) {
	for n < len(s) && (IsNameByte(s[n]) || s[n] == ':' || s[n] == '.') {
		n++
	}
	if name = s[:n]; n == len(s) {
		return 0, "", "", More
	}
	blanks, open := Skip(s[n:])
	if n += blanks; open && name != "" {
		return 0, "", "", More
	}
	if name == "" || s[n] != '=' {
		return 0, "", "", No
	}
	blanks, open = Skip(s[n+1:])
	if n += 1 + blanks; open {
		return 0, "", "", More
	}
	if q := s[n]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[n+1:], q)
		if end < 0 {
			return 0, "", "", More
		}
		return n + end + 2, name, s[n+1 : n+1+end], Yes
	}
	end := strings.IndexAny(s[n:], " \t\r\n<>|/")
	if end < 0 {
		return 0, "", "", More
	}
	return n + end, name, s[n : n+end], Yes
}

func IsLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
}
