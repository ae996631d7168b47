package parse

import (
	"slices"
	"strings"
	"sync"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// gram is a grammar with its markers compiled.
type gram struct {
	*grammar.Grammar
	rank                   int
	think, group, call     pair
	arg, item, header      pair
	end                    []marker
	routes                 []route
	noise                  []marker
	id                     string
	fence                  bool     // its call opener is a code fence
	closeGroup, closeCall  bool     // the closer is required to tell the end
	argNewline, endNewline bool     // one newline belongs to Arg.Open, to Arg.Close
	skipClose, skipOpen    []marker // where a broken call ends: behind these, before those
	skipHot, valueHot      [256]bool
	nestOpen, nestClose    []marker // of nested arguments and items
}

type pair struct{ open, close []marker }

type route struct {
	grammar.Route
	has *marker // nil fits always
}

// openKind is what an opener opens.
type openKind int

const (
	openCall openKind = iota
	openThink
	closeThink
	openHeader
	endMessage
	dropNoise
)

// opener is one way into a call: its markers up to the body, or another marker
// that counts in text.
type opener struct {
	g        *gram
	kind     openKind
	steps    []marker
	group    bool // steps hold Group.Open
	call     bool // steps hold Call.Open
	declared bool // counts only with the name of an offered tool
	line     bool // counts only at a line start
	second   bool // the record has another body, but JSON may stand here
	named    bool // steps name the call
	message  bool // counts only in a message that a route calls a call
}

// machine is a list of grammars, ready to parse. It is constant once built.
type machine struct {
	grams   []*gram
	openers []opener
	hot     [256]bool // bytes that begin a literal, in any case
	lineHot [256]bool // the same, of openers that count only at a line start
	nodes   []node
	bare    []int // openers without a literal in front: bare JSON, f(…), name {…}
	fence   *gram
}

type node struct {
	edges []edge
	opens []int32
}

type edge struct {
	b  byte
	to int32
}

// auto is the machine of all built-in grammars.
var auto = sync.OnceValue(func() *machine { return build(grammar.All(), true) })

// build compiles grammars in their order of rank.
func build(list []*grammar.Grammar, auto bool) *machine {
	m := &machine{nodes: make([]node, 1)}
	for i, g := range list {
		c := compileGrammar(g, i)
		m.grams = append(m.grams, c)
		if c.fence {
			m.fence = c
			c.call.open = slices.DeleteFunc(c.call.open, func(mk marker) bool { return strings.HasPrefix(mk.lead, "```") })
		}
		m.addCalls(c)
		m.addMarks(c, auto)
	}
	for i := range m.openers {
		if !m.openers[i].message {
			m.enter(i)
		}
	}
	m.hot['\n'], m.hot['`'] = true, true
	return m
}

func compileGrammar(g *grammar.Grammar, rank int) *gram {
	c := &gram{Grammar: g, rank: rank, id: g.ID}
	markers := g.Markers()
	all := func(name string) (out []marker) {
		for _, t := range markers[name] {
			out = append(out, compile(t)...)
		}
		return out
	}
	both := func(name string) pair { return pair{all(name + ".open"), all(name + ".close")} }
	c.think, c.group, c.call = both("think"), both("group"), both("call")
	c.arg, c.item, c.header, c.end = both("arg"), both("item"), both("header"), all("end")
	for _, n := range g.Noise {
		c.noise = append(c.noise, compile(n)...)
	}
	for _, r := range g.Routes {
		rt := route{Route: r}
		if has := compile(r.Has); len(has) > 0 {
			rt.has = &has[0]
		}
		c.routes = append(c.routes, rt)
	}
	c.fence = strings.HasPrefix(g.Call.Open, "```")
	c.closeGroup, c.closeCall = len(c.group.close) > 0, len(c.call.close) > 0
	c.argNewline = strings.HasSuffix(g.Arg.Open, "\n")
	c.endNewline = strings.HasPrefix(g.Arg.Close, "\n")
	c.skipClose = slices.Concat(c.call.close, c.group.close)
	c.skipOpen = slices.DeleteFunc(slices.Concat(c.group.open, c.call.open, c.header.open, c.end), func(m marker) bool { return !m.strong })
	c.nestOpen, c.nestClose = slices.Concat(c.item.open, c.arg.open), slices.Concat(c.item.close, c.arg.close)
	warm(&c.skipHot, c.skipClose, c.skipOpen)
	warm(&c.valueHot, c.skipClose, c.skipOpen, c.arg.close, c.arg.open, c.item.open, c.item.close)
	if c.XML {
		c.valueHot['&'], c.valueHot['<'], c.valueHot[']'] = true, true, true
	}
	if c.endNewline {
		c.valueHot['\n'], c.valueHot['\r'] = true, true
	}
	return c
}

// warm sets the bytes that begin one of the markers.
func warm(hot *[256]bool, lists ...[]marker) {
	for _, list := range lists {
		for _, m := range list {
			if m.lead != "" {
				hot[m.lead[0]], hot[lower(m.lead[0])], hot[upper(m.lead[0])] = true, true, true
			}
		}
	}
}

// addCalls lists the ways into a call of g.
func (m *machine) addCalls(g *gram) {
	named := g.Body == grammar.Args || g.Body == grammar.Tagged
	add := func(o opener) {
		o.g, o.line, o.message = g, g.Line, len(g.header.open) > 0
		o.named = named && o.call && o.steps[len(o.steps)-1].names()
		o.declared = g.Line || len(o.steps) == 0 || !o.steps[0].strong && !anyStrong(o.steps)
		m.openers = append(m.openers, o)
	}
	for _, gm := range g.group.open {
		for _, cm := range g.call.open {
			add(opener{steps: []marker{gm, cm}, group: true, call: true})
		}
		add(opener{steps: []marker{gm}, group: true, second: named})
	}
	for _, cm := range g.call.open {
		add(opener{steps: []marker{cm}, call: true})
	}
	if len(g.group.open)+len(g.call.open)+len(g.header.open) == 0 && !named && !g.fence {
		add(opener{})
	}
}

func anyStrong(steps []marker) bool {
	return slices.ContainsFunc(steps, func(m marker) bool { return m.strong })
}

// addMarks lists the markers of g that count in text and open no call.
func (m *machine) addMarks(g *gram, auto bool) {
	add := func(kind openKind, list []marker, line bool) {
		for _, mk := range list {
			m.openers = append(m.openers, opener{g: g, kind: kind, steps: []marker{mk}, line: line})
		}
	}
	for _, mk := range g.think.open {
		if !auto || !isWord(mk) {
			add(openThink, []marker{mk}, isWord(mk))
		}
	}
	for _, mk := range g.think.close {
		if !auto || !isWord(mk) {
			add(closeThink, []marker{mk}, false)
		}
	}
	for _, mk := range g.header.open {
		if !auto || !isWord(mk) {
			add(openHeader, []marker{mk}, false)
		}
	}
	add(endMessage, g.end, false)
	for _, mk := range g.noise {
		if !auto || strings.ContainsAny(mk.lead, "|｜▁") {
			add(dropNoise, []marker{mk}, false)
		}
	}
}

// isWord reports whether a marker is made of ordinary words: "Thought:".
func isWord(m marker) bool { return !strings.ContainsAny(m.lead, "<>[|｜") }

// enter files an opener under its first literal.
func (m *machine) enter(i int) {
	o := &m.openers[i]
	if len(o.steps) == 0 || o.steps[0].lead == "" {
		m.bare = append(m.bare, i)
		return
	}
	lead := o.steps[0].lead
	hot := &m.hot
	if o.line {
		hot = &m.lineHot
	}
	hot[lead[0]], hot[lower(lead[0])], hot[upper(lead[0])] = true, true, true
	at := int32(0)
	for k := 0; k < len(lead); k++ {
		at = m.child(at, lower(lead[k]))
	}
	m.nodes[at].opens = append(m.nodes[at].opens, int32(i))
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

func (m *machine) child(at int32, b byte) int32 {
	for _, e := range m.nodes[at].edges {
		if e.b == b {
			return e.to
		}
	}
	to := int32(len(m.nodes))
	m.nodes = append(m.nodes, node{})
	m.nodes[at].edges = append(m.nodes[at].edges, edge{b, to})
	return to
}

// leads collects into dst the openers whose first literal begins s. open says
// that a longer literal may begin it once more text is there.
func (m *machine) leads(dst []int32, s string) (out []int32, open bool) {
	at, n := int32(0), &m.nodes[0]
	for i := 0; ; i++ {
		dst = append(dst, n.opens...)
		if i == len(s) {
			return dst, len(n.edges) > 0 && at != 0
		}
		b, next := lower(s[i]), int32(-1)
		for _, e := range n.edges {
			if e.b == b {
				next = e.to
				break
			}
		}
		if next < 0 {
			return dst, false
		}
		at, n = next, &m.nodes[next]
	}
}
