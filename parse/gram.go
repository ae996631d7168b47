package parse

import (
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse/internal/body"
	"github.com/unifiedtoolprotocol/utp/parse/internal/scan"
)

// gram is a grammar with its markers compiled.
type gram struct {
	*grammar.Grammar
	rank              int
	source            string // of its calls
	think, group      pair
	call, arg, item   pair
	header            pair
	rawOpen, rawClose []scan.Marker // around a value that is taken word for word; the closer with that of the argument
	end               []scan.Marker
	noise             []scan.Marker
	routes            []route
	fence             bool          // its call opener is a code fence
	aloud             bool          // it thinks in ordinary words, and calls where they stand: ReAct
	argNewline        bool          // one newline belongs to Arg.Open
	endNewline        bool          // one newline belongs to Arg.Close
	argHead           []scan.Marker // the part of Arg.Open with the key, where the value has a tag of its own
	closers           []scan.Marker
	after             []scan.Marker // what may stand after a call whose closer is lost
	bodyOpen          []scan.Marker // what begins the body of a message
	bodyEnd           []scan.Marker // what ends a call without arguments
	again             []scan.Marker // stray markers between the calls of a group
	nest              body.Nest     // of nested arguments and items
	skipOpen          []scan.Marker // before these a broken call ends
	skipHot, valueHot [256]bool
}

type pair struct{ open, close []scan.Marker }

type route struct {
	grammar.Route
	has *scan.Marker // nil fits always
}

func compileGrammar(g *grammar.Grammar, rank int) *gram {
	c := &gram{Grammar: g, rank: rank, source: "text:" + g.Name}
	markers := g.Markers()
	pairOf := func(name string) pair {
		return pair{compileAll(markers[name+".open"]), compileAll(markers[name+".close"])}
	}
	if g.Line {
		markers["call.open"] = dressed(markers["call.open"])
	}
	c.think, c.group, c.call = pairOf("think"), pairOf("group"), pairOf("call")
	c.aloud = g.Line && len(c.think.open) > 0 && isWord(c.think.open[0])
	c.arg, c.item, c.header = pairOf("arg"), pairOf("item"), pairOf("header")
	c.rawOpen = compileAll(markers["raw.open"])
	for _, shut := range markers["raw.close"] {
		for _, arg := range markers["arg.close"] {
			c.rawClose = append(c.rawClose, scan.Compile(shut+" "+arg)...)
		}
	}
	c.end, c.noise = compileAll(markers["end"]), compileAll(g.Noise)
	for _, r := range g.Routes {
		c.routes = append(c.routes, compileRoute(r))
	}
	c.fence = strings.HasPrefix(g.Call.Open, "```")
	c.argNewline = strings.HasSuffix(g.Arg.Open, "\n")
	c.endNewline = strings.HasPrefix(g.Arg.Close, "\n")
	for _, mk := range c.arg.open {
		c.argHead = append(c.argHead, mk.KeyPart()...)
	}
	c.join()
	c.warm()
	return c
}

// dressed are openers of ordinary lines, with a name after a colon as it stands
// and as people write one: as code, in bold, in quotes or brackets, as f().
func dressed(openers []string) (out []string) {
	for _, o := range openers {
		out = append(out, o)
		label, _, named := strings.Cut(o, "{name}")
		if !named || !strings.HasSuffix(strings.TrimRight(label, "* "), ":") {
			continue
		}
		for _, name := range []string{"`{name}`", "**{name}**", `"{name}"`, "[{name}]", "{name}()"} {
			out = append(out, strings.Replace(o, "{name}", name, 1))
		}
	}
	return out
}

func compileAll(templates []string) (out []scan.Marker) {
	for _, t := range templates {
		out = append(out, scan.Compile(t)...)
	}
	return out
}

func compileRoute(r grammar.Route) route {
	rt := route{Route: r}
	if has := scan.Compile(r.Has); len(has) > 0 {
		rt.has = &has[0]
	}
	return rt
}

// join makes the lists that the states look for.
func (g *gram) join() {
	g.bodyOpen = slices.Concat(g.group.open, g.call.open)
	g.skipOpen = slices.DeleteFunc(slices.Concat(g.group.open, g.call.open, g.header.open, g.end), func(m scan.Marker) bool { return !m.Strong })
	g.closers = slices.Concat(g.group.close, g.call.close)
	g.after = slices.Concat(g.group.close, g.skipOpen)
	g.bodyEnd = slices.Concat(g.call.close, g.group.close, g.skipOpen)
	g.again = slices.Concat(g.call.close, g.group.open)
	g.nest = body.Nest{
		Item: g.item.open, ItemClose: g.item.close, Arg: g.arg.open, ArgClose: g.arg.close,
		Open: slices.Concat(g.item.open, g.arg.open), Close: slices.Concat(g.item.close, g.arg.close),
		Hot: &g.valueHot, XML: g.XML,
	}
}

// warm notes the bytes that a broken call and a value are looked through for.
func (g *gram) warm() {
	warm(&g.skipHot, g.closers, g.skipOpen)
	if g.lines() {
		warmBytes(&g.skipHot, "\n")
	}
	warm(&g.valueHot, g.closers, g.skipOpen, g.arg.close, g.arg.open, g.item.open, g.item.close, g.rawClose)
	if g.XML {
		warmBytes(&g.valueHot, "&<]")
	}
	if g.endNewline {
		warmBytes(&g.valueHot, "\n\r")
	}
}

// lines reports whether a group may hold a JSON object a line, with no marker
// between them.
func (g *gram) lines() bool {
	return g.Body == grammar.JSON && len(g.group.open) > 0 && len(g.call.close) == 0
}

// warm sets the bytes that begin one of the markers: all where it begins with a slot.
func warm(hot *[256]bool, lists ...[]scan.Marker) {
	for _, list := range lists {
		for _, m := range list {
			if m.Lead == "" {
				*hot = allBytes
				continue
			}
			hot[scan.Lower(m.Lead[0])], hot[scan.Upper(m.Lead[0])] = true, true
		}
	}
}

func warmBytes(hot *[256]bool, bytes string) {
	for i := range len(bytes) {
		hot[bytes[i]] = true
	}
}

// answers reports whether g has ordinary words for a thought and for the answer
// after it.
func (g *gram) answers() bool { return g.aloud && len(g.think.close) > 0 }

// marked reports whether the calls of g have markers.
func (g *gram) marked() bool {
	return len(g.group.open)+len(g.call.open)+len(g.header.open) > 0 || g.fence
}

// thinkCloses reports whether a marker closes the thinking of g.
func (g *gram) thinkCloses(m *scan.Marker) bool { return hasLead(g.think.close, m) }

// thinkOpens reports whether a marker opens the thinking of g.
func (g *gram) thinkOpens(m *scan.Marker) bool { return hasLead(g.think.open, m) }

func hasLead(list []scan.Marker, m *scan.Marker) bool {
	return slices.ContainsFunc(list, func(o scan.Marker) bool { return o.Lead == m.Lead })
}

// isWord reports whether a marker begins with ordinary words: "Thought:", or has
// nothing but such words around its slots.
func isWord(m scan.Marker) bool {
	lead := m.Lead
	if first := m.Pieces[0]; first.Kind == grammar.Slot && len(m.Pieces) > 1 {
		lead = m.Pieces[1].Text
	}
	return !strings.ContainsAny(lead, "<>[|｜◁")
}
