package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// rule answers how tools are offered; "" leaves it to the next one.
type rule func(c *chooser, calls Reading) (Way, string)

// rules decide, in this order, what no layer decides. The last always answers.
var rules = []rule{
	func(_ *chooser, calls Reading) (Way, string) {
		if calls.Native {
			return "", ""
		}
		return Text, "calls are looked for in the text only (" + calls.Why + ")"
	},
	func(c *chooser, _ Reading) (Way, string) {
		switch {
		case c.Native == nil:
			return "", ""
		case *c.Native:
			return Native, "the server says that the model takes tools"
		}
		return Text, "the server says that the model takes no tools"
	},
	func(c *chooser, _ Reading) (Way, string) {
		if c.Unsaid != "" {
			return c.provider().mute, c.Unsaid
		}
		return c.provider().tools, c.kindName() + " does not say what the model takes; assumed"
	},
}

func (c *chooser) tools(calls Reading) Form {
	w := c.first(func(s saying) word { return s.tools })
	m, known := c.means(w.text, calls)
	f := Form{Way: m.way, Why: w.why, Set: true}
	if !known {
		f.Way = Text
	}
	if f.Way == "" || w.text == "" {
		f = c.known(calls)
	}
	if f.Way == Text {
		f.Grammar, f.Why = c.dialect(w.text, calls, f.Why)
	}
	return f
}

// known is what the rules say.
func (c *chooser) known(calls Reading) Form {
	var f Form
	for _, r := range rules {
		if f.Way, f.Why = r(c, calls); f.Way != "" {
			break
		}
	}
	return f
}

// dialect is the one that a word names, else the one that is read, else that
// of the model's name, else the provider's.
func (c *chooser) dialect(text string, calls Reading, why string) (*grammar.Grammar, string) {
	m, known := c.means(text, calls)
	set := c.first(func(s saying) word { return s.text })
	switch {
	case text == jsonWord:
		return c.named(c.provider().json), why
	case text != "" && !known:
		return c.named(text), why
	case m.dialect != "":
		return c.named(m.dialect), why
	case set.text != "":
		return c.named(set.text), why + "; the dialect by " + set.why
	case calls.Only && len(calls.Prefer) > 0:
		return c.named(calls.Prefer[0]), why
	}
	if made := c.ofModel(); len(made) > 0 {
		return made[0], why + "; the dialect is that of the model's name"
	}
	return c.named(c.provider().text), why + "; no dialect is known of the model, this is the common one of " + c.kindName()
}

func (c *chooser) results(tools Form, calls Reading) Form {
	w := c.first(func(s saying) word { return s.results })
	m, known := c.means(w.text, calls)
	switch {
	case w.text == "" || known && m.way == "":
		tools.Why = "as the tools are offered"
		if tools.Way == None {
			tools.Way = Native
		}
		return tools
	case m.way == Native:
		return Form{Way: Native, Why: w.why, Set: true}
	case w.text == string(Text) && tools.Way == Text:
		return Form{Way: Text, Grammar: tools.Grammar, Why: w.why, Set: true}
	}
	f := Form{Way: Text, Set: true}
	f.Grammar, f.Why = c.dialect(w.text, Reading{Native: calls.Native}, w.why)
	return f
}

func (c *chooser) calls() Reading {
	w := c.first(func(s saying) word { return s.calls })
	name, preferred := strings.CutPrefix(w.text, "prefer:")
	r := Reading{Native: true, Text: true, Why: w.why}
	switch {
	case w.text == "" || name == "auto":
		r.Why = strings.TrimPrefix(w.why+"; everything is read", "; ")
	case name == "openai" || name == "ollama":
	case name == "anthropic":
		r.Prefer = c.read(name)
	case name == string(Native):
		r.Text = preferred
	case name == string(Text):
		r.Native = preferred
	default:
		r.Prefer, r.Native, r.Only = c.read(name), preferred, !preferred
	}
	return r
}

// read lists the grammars of a word of call_parser.
func (c *chooser) read(name string) []string {
	names := slices.Clone(Dialects(name))
	if name == jsonWord {
		names = slices.Insert(names, 0, c.provider().json)
	}
	return names
}

// ranked puts after what is set to be read first the dialect that the model
// is told in, then those of its name.
func (c *chooser) ranked(r Reading, tools Form) Reading {
	if r.Only || !r.Text {
		return r
	}
	add := func(g *grammar.Grammar) {
		if !slices.Contains(r.Prefer, g.Name) {
			r.Prefer = append(r.Prefer, g.Name)
		}
	}
	if tools.Way == Text {
		add(tools.Grammar)
	}
	for _, g := range c.ofModel() {
		add(g)
	}
	return r
}

// ofModel lists the dialects of the model's name, the caller's own first.
func (c *chooser) ofModel() (out []*grammar.Grammar) {
	for _, g := range c.Own {
		if grammar.Fits(g.Models, c.Model) {
			out = append(out, g)
		}
	}
	return append(out, grammar.ForModel(c.Model)...)
}

// warnings are for what was set against what is known of the model.
func (c *chooser) warnings(out Choice) (warn []string) {
	w := c.first(func(s saying) word { return s.tools })
	can := c.Native == nil && c.provider().tools == Native || c.Native != nil && *c.Native
	switch {
	case w.xml && can:
		warn = append(warn, fmt.Sprintf("use_xml_tool_format: tools go to this server as XML text although it may take them natively (%s)", w.why))
	case out.Tools.Set && out.Tools.Way == Native && c.Native != nil && !*c.Native:
		warn = append(warn, fmt.Sprintf("the server says that %s takes no tools, but they go to it natively (%s): it may refuse or ignore them; text would reach it", c.Model, w.why))
	case out.Tools.Way == Native && !out.Calls.Native:
		warn = append(warn, fmt.Sprintf("tools are offered natively (%s) but calls are looked for in the text only (%s): native calls will be dropped", out.Tools.Why, out.Calls.Why))
	case out.Tools.Way == Text && !out.Calls.Text:
		warn = append(warn, fmt.Sprintf("tools are offered as text (%s) but calls are looked for in the server's own field only (%s): calls in the text will not run", out.Tools.Why, out.Calls.Why))
	}
	return warn
}
