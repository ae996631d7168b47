package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// marker is a compiled template. White space at its ends is taken off: what
// stands before an opener is text, what stands after it the body skips.
type marker struct {
	pieces  []grammar.Piece
	lead    string // the literal it begins with; "" if a slot or attribute comes first
	ends    bool   // a new line stood after it
	strong  bool   // a letter stands before the first slot
	repeats bool   // a slot repeats the opener's name or key
}

// asciiBars are DeepSeek's bars and blocks as models write them without the special
// tokens.
var asciiBars = []*strings.Replacer{strings.NewReplacer("｜", "|"), strings.NewReplacer("｜", "|", "▁", "_")}

// compile makes the marker and its other spellings: with ASCII bars, and as
// compileOne has it.
func compile(template string) []marker {
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
func compileOne(template string) []marker {
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
		pieces = pieces[1:]
	}
	if n := len(pieces); n > 0 && pieces[n-1].Kind == grammar.Space {
		m.ends = strings.Contains(pieces[n-1].Text, "\n")
		pieces = pieces[:n-1]
	}
	m.pieces = spaceBeforeBracket(pieces)
	if len(m.pieces) > 0 && m.pieces[0].Kind == grammar.Literal {
		m.lead = m.pieces[0].Text
	}
	for _, p := range m.pieces {
		m.repeats = m.repeats || p.Kind == grammar.Slot && (p.Text == "name" || p.Text == "key")
	}
	m.strong = m.isStrong()
	return m
}

func (m *marker) isStrong() bool {
	for _, p := range m.pieces {
		if p.Kind == grammar.Slot || p.Kind == grammar.Attr {
			return false
		}
		if strings.ContainsFunc(p.Text, isLetter) {
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

// keyPart is the marker up to the blanks behind {key}, if another tag follows
// them.
func (m marker) keyPart() []marker {
	for k, p := range m.pieces {
		if p.Kind == grammar.Space && k > 2 && k+1 < len(m.pieces) && m.pieces[k+1].Kind == grammar.Literal {
			part := m
			part.pieces = m.pieces[:k]
			return []marker{part}
		}
	}
	return nil
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
	out.pieces, out.repeats = nil, false
	for _, p := range m.pieces {
		switch {
		case p.Kind == grammar.Slot && p.Text == "name":
			p = grammar.Piece{Kind: grammar.Literal, Text: c.name}
		case p.Kind == grammar.Slot && p.Text == "key":
			p = grammar.Piece{Kind: grammar.Literal, Text: c.key}
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

// fill is the list with the slots filled that are known by now; the list itself
// if there are none.
func fill(list []marker, c *caps) []marker {
	for i := range list {
		if list[i].repeats {
			out := make([]marker, len(list))
			for i := range list {
				out[i] = list[i].with(c)
			}
			return out
		}
	}
	return list
}
