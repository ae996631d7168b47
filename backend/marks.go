package backend

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/prompt"
)

// mark is a piece of text that is no part of the answer.
type mark struct {
	open  string
	close string // the mark goes on to here; "": it is open alone
	line  bool   // counts at a line start only
	ends  bool   // nothing behind it counts
	after bool   // counts behind a call only
}

// behind ends the reply at what would have stopped a model that writes the
// dialect: behind a call that is a result which the model invents.
func (s *sieve) behind(dialect string) {
	for _, text := range s.stops(dialect) {
		m := mark{open: strings.TrimSpace(text), line: strings.HasPrefix(text, "\n"), ends: true, after: true}
		if !slices.Contains(s.marks, m) {
			s.marks = append(s.marks, m)
		}
	}
}

// leaked are beginnings of lines that some models write beside their calls:
// the words that OpenAI's models are told their own calls in.
var leaked = []string{"to=functions.", "to=multi_tool_use.", `{"tool_uses":`, `{"tool_uses" :`}

// sieve makes the one for a reply.
func (p *plan) sieve(tell func(Trace)) *sieve {
	s := &sieve{single: p.single, tight: p.adapter.Tight, dead: map[int]bool{}, stops: p.stops, tell: func(raw, why string) { tell(Trace{Raw: raw, Decision: why}) }}
	for _, text := range p.adapter.Noise {
		s.marks = append(s.marks, mark{open: text})
	}
	for _, f := range p.adapter.Drop {
		s.marks = append(s.marks, mark{open: f.Open, close: f.Close})
	}
	for _, text := range p.adapter.Ends {
		s.marks = append(s.marks, mark{open: text, ends: true})
	}
	if p.parse.Tools.Len() > 0 {
		for _, text := range leaked {
			s.marks = append(s.marks, mark{open: text, close: "\n", line: true})
		}
	}
	if p.told != nil {
		s.behind(p.told.Name)
	}
	if p.aloud != nil {
		s.final, s.muse = words(p.aloud.Think.Close), words(p.aloud.Think.Open)
	}
	return s
}

// words are those of a marker, in small letters.
func words(marker string) string { return strings.ToLower(strings.Trim(marker, ": \n")) }

// stops are those of a dialect that calls are read in.
func (p *plan) stops(dialect string) []string {
	for _, g := range append(slices.Concat(p.parse.More, p.parse.Grammars), p.told) {
		if g != nil && g.Name == dialect {
			return prompt.Stops(g)
		}
	}
	if g, ok := grammar.ByName(dialect); ok && dialect != utp.Native {
		return prompt.Stops(g)
	}
	return nil
}
