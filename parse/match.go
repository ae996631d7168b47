package parse

import (
	"html"
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// found says how a marker fits the text at hand.
type found int

const (
	no   found = iota
	more       // it may fit once more text is there
	yes
)

const (
	maxSlot = 256  // bytes of a slot; a longer one is text
	maxHead = 1024 // bytes that one decision may look at; what does not fit by then does not fit
)

// view is the text from some place on, as far as a decision may look. A
// decision depends on its view alone, so it is the same however the text
// arrived.
type view struct {
	s   string
	end bool // the output ends behind s
	cut bool // more text follows, but no decision looks at it

	work *int // counts the bytes looked at
}

// viewOf is the view of s, behind which the output ends if end.
func viewOf(s string, end bool, work *int) view {
	if len(s) > maxHead {
		return view{s: s[:maxHead], cut: true, work: work}
	}
	return view{s: s, end: end, work: work}
}

// from is the view n bytes on.
func (v view) from(n int) view {
	v.s = v.s[n:]
	return v
}

// blanks is the view past white space, and how much of that there is. Half a
// blank at the end of the text at hand is one until more is there.
func (v view) blanks() (int, view) {
	n, open := skip(v.s)
	*v.work += n
	if open && !v.end {
		return n, v.from(len(v.s))
	}
	return n, v.from(n)
}

// ask is the answer where s ended too early to tell.
func (v view) ask() found {
	if v.end || v.cut {
		return no
	}
	return more
}

// match fits the marker to the start of v and notes what its slots hold.
// Literals fit in any case.
func (m *marker) match(v view, c *caps) (int, found) {
	i := 0
	for k := 0; k < len(m.pieces); k++ {
		var n int
		var f found
		switch p := &m.pieces[k]; p.Kind {
		case grammar.Literal:
			n, f = matchLiteral(v.s[i:], p.Text)
		case grammar.Space:
			n, f = matchBlanks(v.s[i:], k == len(m.pieces)-1)
		case grammar.Slot:
			n, f = matchSlot(v.from(i), p.Text, m.after(k), c)
		case grammar.Attr:
			last := k
			for last+1 < len(m.pieces) && m.pieces[last+1].Kind != grammar.Literal {
				last++
			}
			n, f = matchAttrs(v.s[i:], m.pieces[k:last+1], m.after(last), c)
			k = last
		}
		if f == more {
			*v.work += len(v.s)
			return 0, v.ask()
		}
		if *v.work += n + 1; f == no {
			return 0, no
		}
		i += n
	}
	return i, yes
}

// longest fits the longest of the markers to the start of v; more as long as
// one of them may still fit.
func longest(list []marker, v view, c *caps) (int, found) {
	best, state := 0, no
	for i := range list {
		m := &list[i]
		if m.lead != "" && v.s != "" && !m.begins(v.s[0]) {
			continue
		}
		var got caps
		n, f := m.match(v, &got)
		if f == more {
			return 0, more
		}
		if f == yes && (state != yes || n > best) {
			best, state = n, yes
			if c != nil {
				*c = got
			}
		}
	}
	return best, state
}

// fits reports whether one of the markers stands at the start of v.
func fits(list []marker, v view) found {
	_, f := longest(list, v, nil)
	return f
}

// begins reports whether the marker's literal may begin with b.
func (m *marker) begins(b byte) bool { return lower(m.lead[0]) == lower(b) }

// after is the literal that follows piece k, past blanks.
func (m *marker) after(k int) string {
	for k++; k < len(m.pieces); k++ {
		if m.pieces[k].Kind == grammar.Literal {
			return m.pieces[k].Text
		}
		if m.pieces[k].Kind != grammar.Space {
			break
		}
	}
	return ""
}

// begun reports whether v begins with the marker's first literal.
func (m *marker) begun(v view) found {
	_, f := matchLiteral(v.s, m.lead)
	if f == more {
		f = v.ask()
	}
	return f
}

func matchLiteral(s, lit string) (int, found) {
	n := min(len(s), len(lit))
	for i := range n {
		if a, b := s[i], lit[i]; a != b && lower(a) != lower(b) {
			return 0, no
		}
	}
	if n < len(lit) {
		return 0, more
	}
	return n, yes
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

func matchBlanks(s string, last bool) (int, found) {
	n, open := skip(s)
	if open && !last {
		return 0, more
	}
	return n, yes
}

// skip is countBlanks; open says that the white space may go on behind s.
func skip(s string) (n int, open bool) {
	n = countBlanks(s)
	return n, n == len(s) || s[n:] == "\xC4"
}

// countBlanks is the length of the white space that s starts with; the
// tokenizer blanks Ġ and Ċ count.
func countBlanks(s string) int {
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
func matchSlot(v view, slot, next string, c *caps) (int, found) {
	s, start := v.s, 0
	if slot != "sfx" {
		start = countBlanks(s)
	}
	end := start
	for end < len(s) && (inSlot(s[end], slot) || inTagKey(s[end:], slot, next)) && !(next != "" && strings.HasPrefix(s[end:], next)) {
		if end++; end-start > maxSlot {
			return 0, no
		}
	}
	if slot == "name" && next == ">" && end > start {
		end = spacedName(s, end)
	}
	if end == len(s) && !v.end {
		return 0, more
	}
	text := s[start:end]
	if text != "" && text[len(text)-1] >= utf8.RuneSelf {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "Ċ"), "Ġ")
	}
	if !c.set(slot, text) {
		return 0, no
	}
	if next != "" {
		blanks, rest := v.from(end).blanks()
		switch _, f := matchLiteral(rest.s, next); {
		case f == yes:
			end += blanks
		case f == more && !v.end:
			return 0, more
		}
	}
	return end, yes
}

// spacedName is the end of a name with blanks in it that ">" ends, or of its first
// word.
func spacedName(s string, end int) int {
	for i := end; i < len(s) && i < end+maxSlot; i++ {
		switch {
		case s[i] == '>':
			return i
		case s[i] != ' ' && !isNameByte(s[i]):
			return end
		}
	}
	if len(s) < end+maxSlot && end < len(s) && s[end] == ' ' {
		return len(s)
	}
	return end
}

// slotEnds are the bytes that no name, type or id has.
var slotEnds = func() (t [256]bool) {
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
	return !slotEnds[b]
}

// inTagKey reports whether the first byte of s may stand in a key that a closing tag
// ends.
func inTagKey(s, slot, next string) bool {
	if slot != "key" || !strings.HasPrefix(next, "</") || s[0] != '<' && s[0] != '>' {
		return false
	}
	tag, _, _ := strings.Cut(next, ">")
	return !strings.HasPrefix(s, tag) && !strings.HasPrefix(tag, s)
}

func isNameByte(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// caps is what the slots of a marker held.
type caps struct {
	name, key, typ, id string
	closed             bool // an element that closed itself: "/>"
	twice              bool // the opener stood there twice
}

// set keeps a slot's text; it reports false if the slot may not be so.
func (c *caps) set(slot, text string) bool {
	switch slot {
	case "name":
		c.name = text
		return text != ""
	case "key":
		c.key = strings.TrimSpace(text)
		return !strings.HasPrefix(text, "/")
	case "type":
		c.typ = text
	case "id":
		c.id = text
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
func matchAttrs(s string, want []grammar.Piece, next string, c *caps) (int, found) {
	i, missing := 0, required(want)
	for {
		n, open := skip(s[i:])
		if i += n; open {
			return 0, more
		}
		at := i
		if s[i] == '/' {
			at++
		}
		if _, f := matchLiteral(s[at:], next); f == more {
			return 0, more
		} else if f == yes {
			c.closed = at > i
			break
		}
		n, name, value, f := matchAttr(s[i:])
		if f != yes {
			return 0, f
		}
		took, ok := c.attr(want, name, value)
		if !ok {
			return 0, no
		}
		missing -= took
		i += n
	}
	if missing > 0 {
		return 0, no
	}
	if c.closed {
		i++
	}
	return i, yes
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
func (c *caps) attr(want []grammar.Piece, name, value string) (n int, ok bool) {
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
func matchAttr(s string) (n int, name, value string, f found) {
	for n < len(s) && (isNameByte(s[n]) || s[n] == ':' || s[n] == '.') {
		n++
	}
	if name = s[:n]; n == len(s) {
		return 0, "", "", more
	}
	blanks, open := skip(s[n:])
	if n += blanks; open && name != "" {
		return 0, "", "", more
	}
	if name == "" || s[n] != '=' {
		return 0, "", "", no
	}
	blanks, open = skip(s[n+1:])
	if n += 1 + blanks; open {
		return 0, "", "", more
	}
	if q := s[n]; q == '"' || q == '\'' {
		end := strings.IndexByte(s[n+1:], q)
		if end < 0 {
			return 0, "", "", more
		}
		return n + end + 2, name, s[n+1 : n+1+end], yes
	}
	end := strings.IndexAny(s[n:], " \t\r\n<>|/")
	if end < 0 {
		return 0, "", "", more
	}
	return n + end, name, s[n : n+end], yes
}

func isLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
}
