package scan

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Marker is a compiled template. White space at its ends is taken off: what
// stands before an opener is text, what stands after it the body skips.
type Marker struct {
	Pieces  []grammar.Piece
	Lead    string // the literal it begins with; "" if a slot or attribute comes first
	Ends    bool   // a new line stood after it
	Strong  bool   // a letter stands before the first slot
	repeats bool   // a slot repeats the opener's name or key
}

// asciiBars are DeepSeek's bars and blocks as models write them without the special
// tokens.
var asciiBars = []*strings.Replacer{strings.NewReplacer("｜", "|"), strings.NewReplacer("｜", "|", "▁", "_")}

// Compile makes the marker and its other spellings: with ASCII bars, and as
// compileOne has it.
func Compile(template string) []Marker {
	out := compileOne(template)
	if !strings.Contains(template, "｜") {
		return out
	}
	written := []string{template}
	for _, ascii := range asciiBars {
		if other := ascii.Replace(template); !slices.Contains(written, other) {
			written = append(written, other)
			out = append(out, compileOne(other)...)
		}
	}
	return out
}

// compileOne makes the marker and, for a leading "]" or a trailing "[", its
// other spelling (rule 5).
func compileOne(template string) []Marker {
	pieces, err := grammar.Split(template)
	if err != nil || len(pieces) == 0 {
		return nil
	}
	m := trim(pieces)
	if len(m.Pieces) == 0 {
		return nil
	}
	out := []Marker{m}
	if first := m.Pieces[0]; first.Kind == grammar.Literal && strings.HasPrefix(first.Text, "]") && (len(first.Text) > 1 || len(m.Pieces) > 1) {
		rest := append([]grammar.Piece{{Kind: grammar.Literal, Text: first.Text[1:]}}, m.Pieces[1:]...)
		if first.Text == "]" {
			rest = m.Pieces[1:]
		}
		out = append(out, trim(rest))
	}
	return out
}

func trim(pieces []grammar.Piece) Marker {
	var m Marker
	if pieces[0].Kind == grammar.Space {
		pieces = pieces[1:]
	}
	if n := len(pieces); n > 0 && pieces[n-1].Kind == grammar.Space {
		m.Ends = strings.Contains(pieces[n-1].Text, "\n")
		pieces = pieces[:n-1]
	}
	m.Pieces = spaceBeforeBracket(pieces)
	if len(m.Pieces) > 0 && m.Pieces[0].Kind == grammar.Literal {
		m.Lead = m.Pieces[0].Text
	}
	for _, p := range m.Pieces {
		m.repeats = m.repeats || p.Kind == grammar.Slot && (p.Text == "name" || p.Text == "key")
	}
	m.Strong = m.isStrong()
	return m
}

func (m *Marker) isStrong() bool {
	for _, p := range m.Pieces {
		if p.Kind == grammar.Slot || p.Kind == grammar.Attr {
			return false
		}
		if strings.ContainsFunc(p.Text, IsLetter) {
			return true
		}
	}
	return false
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

// KeyPart is the marker up to the blanks after {key}, if another tag follows
// them.
func (m Marker) KeyPart() []Marker {
	for k, p := range m.Pieces {
		if p.Kind == grammar.Space && k > 2 && k+1 < len(m.Pieces) && m.Pieces[k+1].Kind == grammar.Literal {
			part := m
			part.Pieces = m.Pieces[:k]
			return []Marker{part}
		}
	}
	return nil
}

// Names reports whether the marker holds a call's name, or an id with it.
func (m *Marker) Names() bool {
	for _, p := range m.Pieces {
		if (p.Kind == grammar.Slot || p.Kind == grammar.Attr) && (p.Text == "name" || p.Text == "id") {
			return true
		}
	}
	return false
}

// with fills slots that are known by now, as in "</{key}>".
func (m Marker) with(c *Caps) Marker {
	out := m
	out.Pieces, out.repeats = nil, false
	for _, p := range m.Pieces {
		switch {
		case p.Kind == grammar.Slot && p.Text == "name":
			p = grammar.Piece{Kind: grammar.Literal, Text: c.Name}
		case p.Kind == grammar.Slot && p.Text == "key":
			p = grammar.Piece{Kind: grammar.Literal, Text: c.Key}
		}
		if n := len(out.Pieces); n > 0 && p.Kind == grammar.Literal && out.Pieces[n-1].Kind == grammar.Literal {
			out.Pieces[n-1].Text += p.Text
			continue
		}
		out.Pieces = append(out.Pieces, p)
	}
	if len(out.Pieces) > 0 && out.Pieces[0].Kind == grammar.Literal {
		out.Lead = out.Pieces[0].Text
	}
	return out
}

// Fill is the list with the slots filled that are known by now; the list itself
// if there are none.
func Fill(list []Marker, c *Caps) []Marker {
	for i := range list {
		if list[i].repeats {
			out := make([]Marker, len(list))
			for i := range list {
				out[i] = list[i].with(c)
			}
			return out
		}
	}
	return list
}
