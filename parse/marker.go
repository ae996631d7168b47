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
	maxHead = 1024 // bytes of an opener with its slots and blanks; a longer one is text
)

// caps is what the slots of a marker held.
type caps struct {
	name, key, typ, id, any string
	closed                  bool // an element that closed itself: "/>"
}

// marker is a compiled template. White space at its ends is taken off: what
// stands before an opener is text, what stands after it the body skips.
type marker struct {
	pieces []grammar.Piece
	lead   string // the literal it begins with; "" if a slot or attribute comes first
	head   bool   // white space stood before it
	tail   bool   // white space stood after it
	strong bool   // a letter stands before the first slot
}

// compile makes the marker and, for a leading "]" or a trailing "[", its
// other spelling (rule 5).
func compile(template string) []marker {
	pieces, err := grammar.Split(template)
	if err != nil || len(pieces) == 0 {
		return nil
	}
	m := trim(pieces)
	if len(m.pieces) == 0 {
		return nil
	}
	out := []marker{m}
	if first := m.pieces[0]; first.Kind == grammar.Literal && strings.HasPrefix(first.Text, "]") && (len(first.Text) > 1 || len(m.pieces) > 1) {
		rest := append([]grammar.Piece{{Kind: grammar.Literal, Text: first.Text[1:]}}, m.pieces[1:]...)
		if first.Text == "]" {
			rest = m.pieces[1:]
		}
		out = append(out, trim(rest))
	}
	return out
}

func trim(pieces []grammar.Piece) marker {
	var m marker
	if pieces[0].Kind == grammar.Space {
		pieces, m.head = pieces[1:], true
	}
	if n := len(pieces); n > 0 && pieces[n-1].Kind == grammar.Space {
		pieces, m.tail = pieces[:n-1], true
	}
	m.pieces = spaceBeforeBracket(pieces)
	if len(m.pieces) > 0 && m.pieces[0].Kind == grammar.Literal {
		m.lead = m.pieces[0].Text
	}
	for _, p := range m.pieces {
		if p.Kind == grammar.Slot || p.Kind == grammar.Attr {
			break
		}
		m.strong = m.strong || strings.ContainsFunc(p.Text, isLetter)
	}
	return m
}

// spaceBeforeBracket allows blanks before a "[" that ends an opener.
func spaceBeforeBracket(pieces []grammar.Piece) []grammar.Piece {
	n := len(pieces)
	if n == 0 {
		return pieces
	}
	last := pieces[n-1]
	head, ok := strings.CutSuffix(last.Text, "[")
	if last.Kind != grammar.Literal || !ok || head == "" {
		return pieces
	}
	out := append([]grammar.Piece{}, pieces[:n-1]...)
	return append(out, grammar.Piece{Kind: grammar.Literal, Text: head}, grammar.Piece{Kind: grammar.Space}, grammar.Piece{Kind: grammar.Literal, Text: "["})
}

// names reports whether the marker holds a call's name, or an id with it.
func (m *marker) names() bool {
	for _, p := range m.pieces {
		if (p.Kind == grammar.Slot || p.Kind == grammar.Attr) && (p.Text == "name" || p.Text == "id") {
			return true
		}
	}
	return false
}

// with fills slots that are known by now, as in "</{key}>".
func (m marker) with(c *caps) marker {
	out := m
	out.pieces = nil
	for _, p := range m.pieces {
		if p.Kind == grammar.Slot && (p.Text == "name" || p.Text == "key") {
			p = grammar.Piece{Kind: grammar.Literal, Text: map[string]string{"name": c.name, "key": c.key}[p.Text]}
		}
		if n := len(out.pieces); n > 0 && p.Kind == grammar.Literal && out.pieces[n-1].Kind == grammar.Literal {
			out.pieces[n-1].Text += p.Text
			continue
		}
		out.pieces = append(out.pieces, p)
	}
	if len(out.pieces) > 0 && out.pieces[0].Kind == grammar.Literal {
		out.lead = out.pieces[0].Text
	}
	return out
}

// match fits the marker to the start of s. Literals fit in any case.
func (m *marker) match(s string, eof bool, c *caps) (int, found) {
	i := 0
	for k := 0; k < len(m.pieces); k++ {
		var n int
		var f found
		switch p := &m.pieces[k]; p.Kind {
		case grammar.Literal:
			n, f = matchLiteral(s[i:], p.Text)
		case grammar.Space:
			n, f = matchBlanks(s[i:], k == len(m.pieces)-1)
		case grammar.Slot:
			n, f = matchSlot(s[i:], p.Text, m.after(k), eof, c)
		case grammar.Attr:
			last := k
			for last+1 < len(m.pieces) && m.pieces[last+1].Kind != grammar.Literal {
				last++
			}
			n, f = matchAttrs(s[i:], m.pieces[k:last+1], m.after(last), c)
			k = last
		}
		if f != yes {
			if f == more && (eof || len(s) > maxHead) {
				f = no
			}
			return 0, f
		}
		i += n
	}
	return i, yes
}

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

func matchLiteral(s, lit string) (int, found) {
	n := min(len(s), len(lit))
	if !equalFold(s[:n], lit[:n]) {
		return 0, no
	}
	if n < len(lit) {
		return 0, more
	}
	return n, yes
}

func equalFold(a, b string) bool {
	for i := 0; i < len(a); i++ {
		if a[i] != b[i] && lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func matchBlanks(s string, last bool) (int, found) {
	n := countBlanks(s)
	if n == len(s) && !last {
		return 0, more
	}
	if partialBlank(s[n:]) && !last {
		return 0, more
	}
	return n, yes
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

func partialBlank(s string) bool { return s == "\xC4" }

// matchSlot reads a name, a key and so on up to the literal that follows it.
func matchSlot(s, slot, next string, eof bool, c *caps) (int, found) {
	start := 0
	if slot != "sfx" {
		start = countBlanks(s)
	}
	end := start
	for end < len(s) && inSlot(s[end], slot) && !(next != "" && strings.HasPrefix(s[end:], next)) {
		if end++; end-start > maxSlot {
			return 0, no
		}
	}
	if end == len(s) && !eof {
		return 0, more
	}
	text := s[start:end]
	if end > start && text[len(text)-1] >= utf8.RuneSelf {
		if b := strings.TrimSuffix(strings.TrimSuffix(text, "Ċ"), "Ġ"); b != text {
			text = b
		}
	}
	if !c.set(slot, text) {
		return 0, no
	}
	if next != "" {
		blanks := countBlanks(s[end:])
		switch _, f := matchLiteral(s[end+blanks:], next); {
		case f == yes:
			end += blanks
		case f == more && !eof:
			return 0, more
		}
	}
	return end, yes
}

func inSlot(b byte, slot string) bool {
	switch slot {
	case "any":
		return b != '>' && b != '\n'
	case "n":
		return '0' <= b && b <= '9'
	case "key":
		return b != '<' && b != '>' && b != '\n' && b != '"' && b != '=' && b != '{' && b != '|'
	case "sfx":
		return b == ':' || isNameByte(b)
	}
	return strings.IndexByte(" \t\r\n<>{}[]()\"'=,|`*", b) < 0
}

func isNameByte(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
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
	case "any":
		c.any = text
	}
	return true
}

// matchAttrs reads attributes in any order, up to next or "/" before it.
// Of those wanted only type may be missing.
func matchAttrs(s string, want []grammar.Piece, next string, c *caps) (int, found) {
	i, seen := 0, 0
	for {
		i += countBlanks(s[i:])
		if i == len(s) {
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
		for _, w := range want {
			if w.Kind == grammar.Attr && strings.EqualFold(w.Name, name) {
				if !c.set(w.Text, html.UnescapeString(value)) {
					return 0, no
				}
				if w.Text != "type" {
					seen++
				}
			}
		}
		i += n
	}
	for _, w := range want {
		if w.Kind == grammar.Attr && w.Text != "type" {
			seen--
		}
	}
	if seen < 0 {
		return 0, no
	}
	if c.closed {
		i++
	}
	return i, yes
}

// matchAttr reads one x="y", x='y' or x=y.
func matchAttr(s string) (n int, name, value string, f found) {
	for n < len(s) && (isNameByte(s[n]) || s[n] == ':' || s[n] == '.') {
		n++
	}
	if name = s[:n]; n == len(s) {
		return 0, "", "", more
	}
	n += countBlanks(s[n:])
	if name == "" || n < len(s) && s[n] != '=' {
		return 0, "", "", no
	}
	if n++; n < len(s) {
		n += countBlanks(s[n:])
	}
	if n >= len(s) {
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
