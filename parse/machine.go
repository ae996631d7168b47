package parse

import (
	"slices"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// openKind is what an opener opens.
type openKind int

const (
	openCall openKind = iota
	openThink
	closeThink
	openHeader
	routeHeader // a header's closer without its opener
	endMessage
	dropNoise
	openDrop   // what stands up to its closer is no part of the answer
	openResult // of a tool, which the model invents after a call
	endReply   // nothing that follows counts
)

// opener is one way into a call: its markers up to the body, or another marker
// that counts in text.
type opener struct {
	g        *gram
	kind     openKind
	steps    []scan.Marker
	group    bool   // steps hold Group.Open
	call     bool   // steps hold Call.Open
	declared bool   // counts only with the name of an offered tool
	line     bool   // counts only at a line start
	second   bool   // the record has another body, but JSON may stand here
	named    bool   // steps name the call
	message  bool   // counts only in a message that a route calls a call
	hinted   bool   // ordinary words: counts only if its grammar is preferred
	text     string // of a mark of the model's family, which counts to the letter
	close    string // openDrop
	first    bool   // ordinary words of a header: counts only at the start of the output, unless its grammar is preferred
}

// machine is a list of grammars, ready to parse. It is constant once built.
type machine struct {
	list      []*grammar.Grammar // of the Config that it was built for
	more      []*grammar.Grammar
	words     words
	grams     []*gram
	openers   []opener
	headers   []*gram       // those with message headers
	trie      *scan.Trie    // of the openers' first literals
	starts    scan.Starts   // of those that count within a line, and of all else that may begin there
	lineHot   [256]bool     // bytes that begin an opener which counts only at a line start, in any case
	start     [256]bool     // bytes that something may begin with at a line start
	follow    [256]bool     // bytes that may follow the word which a bare form begins with
	bare      []int         // openers without a literal in front: bare JSON, f(…), name {…}
	bareJSON  []int         // those of JSON grammars alone
	wordFirst []int         // those of markup after a name
	closers   []scan.Marker // of all groups and calls but code fences
	closing   [256]bool     // bytes that begin one of them
	chat      *chatTokens
	fence     *gram           // the grammar whose calls stand in code fences
	inside    func() *machine // what is read inside such a fence
}

var (
	bareJSON   = grammar.Grammar{Name: "json-bare", Body: grammar.JSON, Line: true}
	barePython = grammar.Grammar{Name: "python-bare", Body: grammar.Python, Line: true}

	// auto is the machine of all built-in grammars.
	auto = sync.OnceValue(func() *machine { return build(grammar.All(), wordless) })
	// hinted is the same for a parser that prefers some of them.
	hinted = sync.OnceValue(func() *machine { return build(grammar.All(), onHint) })
	// embedded is the machine for a call that was written as a string.
	embedded = sync.OnceValue(func() *machine { return build([]*grammar.Grammar{&bareJSON, &barePython}, inFull) })
)

// all is the machine of all built-in grammars, for a parser that prefers some of
// them or none.
func all(prefers bool) *machine {
	if prefers {
		return hinted()
	}
	return auto()
}

// reads reports whether m was built for the grammars of c.
func (m *machine) reads(c Config) bool {
	return len(m.list)+len(m.more) > 0 && slices.Equal(m.list, c.Grammars) && slices.Equal(m.more, c.More)
}

// words says what becomes of markers that are made of ordinary words.
type words int

const (
	inFull   words = iota // they count
	wordless              // they do not: nobody said that the text is of their grammar
	onHint                // they count if their grammar is preferred
)

// build compiles grammars in their order of rank.
func build(list []*grammar.Grammar, w words) *machine {
	m := &machine{words: w, trie: scan.NewTrie(), chat: chat()}
	for i, g := range list {
		c := compileGrammar(g, i)
		m.grams = append(m.grams, c)
		if c.fence {
			m.fence = c
			c.call.open = slices.DeleteFunc(c.call.open, func(mk scan.Marker) bool { return strings.HasPrefix(mk.Lead, "```") })
		}
		m.addCalls(c)
		m.addMarks(c, w)
		for _, mk := range c.closers {
			if !c.fence && !c.invents() && !hasLead(m.closers, &mk) {
				m.closers = append(m.closers, mk)
			}
		}
	}
	warm(&m.closing, m.closers)
	for i := range m.openers {
		if !m.openers[i].message {
			m.enter(i)
		}
	}
	for _, other := range []string{"\n", "`", "~~", "<s>"} {
		m.starts.Add(other)
	}
	for _, token := range m.chat.ends.list {
		m.starts.Add(token.Text)
	}
	m.start['`'], m.start['~'] = true, true
	m.inside = sync.OnceValue(func() *machine { return insideFence(list) })
	return m
}

// insideFence is the machine for the content of a code fence: the same
// grammars, with the bare forms.
func insideFence(list []*grammar.Grammar) *machine {
	var out []*grammar.Grammar
	for _, g := range list {
		if !strings.HasPrefix(g.Call.Open, "```") {
			out = append(out, g)
		}
	}
	return build(append(out, &bareJSON, &barePython), inFull)
}

// addCalls lists the ways into a call of g.
func (m *machine) addCalls(g *gram) {
	named := g.Body == grammar.Args || g.Body == grammar.Tagged
	add := func(o opener) {
		o.g, o.line, o.message = g, g.Line, len(g.header.open) > 0
		o.named = named && o.call && o.steps[len(o.steps)-1].Names()
		o.declared = g.Line || !slices.ContainsFunc(o.steps, func(mk scan.Marker) bool { return mk.Strong })
		m.openers = append(m.openers, o)
	}
	for _, gm := range g.group.open {
		for _, cm := range g.call.open {
			add(opener{steps: []scan.Marker{gm, cm}, group: true, call: true})
		}
		add(opener{steps: []scan.Marker{gm}, group: true, second: named})
	}
	for _, cm := range g.call.open {
		add(opener{steps: []scan.Marker{cm}, call: true})
	}
	if len(g.group.open)+len(g.call.open)+len(g.header.open) == 0 && !named && !g.fence {
		add(opener{})
	}
}

// addMarks lists the markers of g that count in text and open no call.
func (m *machine) addMarks(g *gram, w words) {
	add := func(kind openKind, list []scan.Marker, isWord func(scan.Marker) bool) {
		for _, mk := range list {
			word := isWord(mk)
			first := word && kind == openHeader && w != inFull && closesStrong(g)
			if !word || w != wordless || first {
				m.addMark(opener{g: g, kind: kind, steps: []scan.Marker{mk}, line: word && kind == openThink, hinted: word && w == onHint && !first, first: first})
			}
		}
	}
	if len(g.header.open) > 0 {
		m.headers = append(m.headers, g)
	}
	never := func(scan.Marker) bool { return false }
	add(openThink, g.think.open, isWord)
	add(closeThink, g.think.close, isWord)
	add(openHeader, g.header.open, isWord)
	add(routeHeader, g.header.close, func(mk scan.Marker) bool { return isWord(mk) || !mk.Strong })
	add(endMessage, g.end, never)
	for _, stop := range g.Stops() {
		for _, mk := range scan.Compile(stop) {
			m.openers = append(m.openers, opener{g: g, kind: openResult, steps: []scan.Marker{mk}, line: stop[0] == '\n'})
		}
	}
	add(dropNoise, g.noise, func(mk scan.Marker) bool { return !strings.ContainsAny(mk.Lead, "|｜▁") })
}

// with is m with the marks of a family of models.
func (m *machine) with(marks grammar.Marks) *machine {
	out := *m
	out.openers, out.trie = slices.Clip(m.openers), m.trie.Clone()
	add := func(kind openKind, text, shut string) {
		for _, mk := range scan.Compile(text) {
			out.openers = append(out.openers, opener{g: family, kind: kind, steps: []scan.Marker{mk}, text: text, close: shut})
			out.enter(len(out.openers) - 1)
		}
	}
	for _, text := range marks.Noise {
		add(dropNoise, text, "")
	}
	for _, f := range marks.Drop {
		add(openDrop, f.Open, f.Close)
	}
	for _, text := range marks.Ends {
		add(endReply, text, "")
	}
	return &out
}

// family stands for the grammar of marks that belong to none.
var family = &gram{Grammar: &grammar.Grammar{Name: "family"}}

// closesStrong reports whether the headers of g end in a marker, which tells
// them from ordinary text.
func closesStrong(g *gram) bool {
	return slices.ContainsFunc(g.header.close, func(mk scan.Marker) bool { return !isWord(mk) })
}

// addMark lists a marker, unless it is plain and an earlier grammar has it too.
func (m *machine) addMark(o opener) {
	same := func(b opener) bool {
		return b.kind == o.kind && b.line == o.line && !b.hinted && b.steps[0].Lead == o.steps[0].Lead && len(o.steps[0].Pieces) == 1
	}
	if o.kind == openHeader || o.kind == endMessage || !slices.ContainsFunc(m.openers, same) {
		m.openers = append(m.openers, o)
	}
}

// enter files an opener under its first literal.
func (m *machine) enter(i int) {
	o := &m.openers[i]
	if len(o.steps) == 0 || o.steps[0].Lead == "" {
		m.bare = append(m.bare, i)
		if len(o.steps) == 0 && o.g.Body == grammar.JSON {
			m.bareJSON = append(m.bareJSON, i)
		}
		if o.afterWord() {
			m.wordFirst = append(m.wordFirst, i)
		}
		m.addFollow(o)
		return
	}
	lead := o.steps[0].Lead
	if o.line {
		m.lineHot[scan.Lower(lead[0])], m.lineHot[scan.Upper(lead[0])] = true, true
		m.start[scan.Lower(lead[0])], m.start[scan.Upper(lead[0])] = true, true
	} else {
		m.starts.Add(lead)
	}
	m.trie.Add(lead, int32(i))
}

// calm is how much of s can be passed on though more may come, if something may begin
// first at s[n]. All, if nothing begins: no literal, no token that ends a turn, no line
// but after it. All but the last byte, if something may begin there; else nothing.
// ticks counts the lone backquotes, at which code begins or ends.
func (m *machine) calm(s string, n int) (calm, ticks int) {
	for ; n < len(s); n = m.starts.Next(s, n+1, s[n]) {
		switch last := n+1 == len(s); {
		case loneTick(s, n):
			ticks++
		case last && s[n] == '\n':
		case last && s[n] != '<' && m.trie.Longer(s[n]): // with "<" tokens at the end of a reply begin, too
			return n, ticks
		default:
			return 0, 0
		}
	}
	return n, ticks
}

// loneTick reports whether a backquote stands at s[i], and no other after it: code
// begins or ends there.
func loneTick(s string, i int) bool { return s[i] == '`' && i+1 < len(s) && s[i+1] != '`' }

// addFollow notes what may begin and what may follow the word of a bare form.
func (m *machine) addFollow(o *opener) {
	warmBytes(&m.start, "{[(_-")
	for c := range 256 {
		m.start[c] = m.start[c] || scan.IsNameByte(byte(c))
	}
	if len(o.steps) == 0 {
		warmBytes(&m.follow, "(=")
		return
	}
	first := &o.steps[0]
	for k := range first.Pieces {
		if next := first.After(k); next != "" {
			warmBytes(&m.follow, string([]byte{scan.Lower(next[0]), scan.Upper(next[0])}))
			return
		}
	}
	if o.g.Text != "" {
		m.follow = allBytes
		return
	}
	warmBytes(&m.follow, "{[\"")
	warm(&m.follow, o.g.call.close, o.g.group.close, o.g.arg.open)
}

var allBytes = func() (t [256]bool) {
	for i := range t {
		t[i] = true
	}
	return t
}()
