package scan

import (
	"strings"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

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
			return len(strings.TrimRight(s[:i], " "))
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

func IsLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
}
