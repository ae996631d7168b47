// Package format decides in which form a model is told of tools, where its
// calls are looked for, and in which form results go back.
//
// What people set comes as layers, from the call at hand down to the model;
// after them stand the server's word, the model's name and the provider. The
// tables in words.go and providers.go say what each word and each provider
// means, and Choose asks them in one order. Every decision says why.
//
// What a family of models needs beside its form is an Adapter, of the table in
// adapters.go.
package format

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// Level ranks who says something: the lower level decides.
type Level int

// The levels, in the order in which they are asked.
const (
	Call    Level = iota // this run or request alone
	Team                 // the agents of a team
	Profile              // a named set of settings
	Agent                // the settings at hand
	Env                  // the environment
	Model                // what is set for the model at hand
)

// Layer is what one source sets. What it leaves empty the next one decides.
type Layer struct {
	Level Level
	From  string // who says it, for people: "profile big"
	For   string // a glob of the models that it speaks of; "": all

	Format  string // tool_format: the other three at once, where they are empty
	Tools   string // definition_format: how tools are offered; one of ToolWords, or a grammar
	Calls   string // call_parser: where calls are looked for; one of CallWords, a grammar, or prefer: and one of these
	Results string // result_format: how results go back; one of ResultWords, or a grammar
	Text    string // the dialect of tools that go as text where no other word names it: a grammar
	XML     *bool  // use_xml_tool_format: all three in Autobyteus' XML; false: not so, whatever lower layers say
}

// Facts are what is known of the model beside the layers.
type Facts struct {
	Provider string             // kind of the API or of the model: "ollama", "openai", "gguf"
	Model    string             // its name
	Native   *bool              // the server says whether the model takes tools; nil: it does not say
	Unsaid   string             // why the server does not say; "": it has no way to
	Own      []*grammar.Grammar // dialects that words may name beside the built-in ones
}

// Way is how something is told to a model.
type Way string

const (
	None   Way = "none"   // not at all
	Native Way = "native" // in the provider's own field
	Text   Way = "text"   // in the prompt, in a Grammar
)

// Form is how tools or results are told.
type Form struct {
	Way     Way
	Grammar *grammar.Grammar // of Text; else nil
	Set     bool             // by a layer; else by what is known of the model
	Why     string           // who decided
}

// Name is the form in a word: "native", "none", or the dialect's name.
func (f Form) Name() string {
	if f.Way == Text && f.Grammar != nil {
		return f.Grammar.Name
	}
	return string(f.Way)
}

// Reading is where calls are looked for.
type Reading struct {
	Native, Text bool
	Prefer       []string // grammars, the first first
	Only         bool     // no others than Prefer
	Why          string
}

// Choice is what was decided for one model.
type Choice struct {
	Tools    Form
	Calls    Reading
	Results  Form
	Learned  bool     // the word for the tools is Learned: a form may be named for each conversation
	Warnings []string // for people: what may go wrong with it
}

// Choose decides. The order of layers of one level is theirs. It fails if a
// layer has a word that means nothing; the error names both.
func Choose(layers []Layer, f Facts) (Choice, error) {
	c := chooser{Facts: f, said: spread(layers, f.Model)}
	for _, s := range c.said {
		if err := c.check(s); err != nil {
			return Choice{}, err
		}
	}
	var out Choice
	out.Calls = c.calls()
	out.Tools = c.tools(out.Calls)
	out.Results = c.results(out.Tools, out.Calls)
	out.Calls = c.ranked(out.Calls, out.Tools)
	out.Learned = c.first(func(s saying) word { return s.tools }).text == Learned
	out.Warnings = c.warnings(out)
	return out, nil
}

// chooser is one choice in the making.
type chooser struct {
	Facts
	said []saying
}

// saying is a layer with its aliases translated.
type saying struct {
	tools, calls, results, text word
	xml                         string // use_xml_tool_format where it forces nothing, for people
}

// word is what a layer says to one question.
type word struct {
	text string // "": nothing
	why  string
	xml  bool // by use_xml_tool_format
}

// spread orders the layers and translates tool_format and use_xml_tool_format,
// of which the first that is set counts, into the three words.
func spread(layers []Layer, model string) (out []saying) {
	layers = slices.DeleteFunc(slices.Clone(layers), func(l Layer) bool { return l.For != "" && !grammar.Fits([]string{strings.ToLower(l.For)}, model) })
	slices.SortStableFunc(layers, func(a, b Layer) int { return cmp.Compare(a.Level, b.Level) })
	decided := false
	for _, l := range layers {
		force := l.XML != nil && *l.XML && !decided
		decided = decided || l.XML != nil
		out = append(out, l.saying(force))
	}
	return out
}

func (l Layer) saying(xml bool) saying {
	if xml {
		w := word{forced, l.From + ": use_xml_tool_format = true", true}
		return saying{tools: w, calls: w, results: w}
	}
	f := word{l.Format, l.From + ": tool_format = " + l.Format, false}
	s := saying{tools: f, calls: f, results: f}
	if l.XML != nil {
		s.xml = fmt.Sprintf("%s: use_xml_tool_format = %v", l.From, *l.XML)
	}
	s.calls.text, s.results.text = l.aside()
	set := func(w *word, key, text string) {
		if text != "" {
			*w = word{text, l.From + ": " + key + " = " + text, false}
		}
	}
	set(&s.tools, "definition_format", l.Tools)
	set(&s.calls, "call_parser", l.Calls)
	set(&s.results, "result_format", l.Results)
	set(&s.text, "grammar", l.Text)
	return s
}

// aside is what tool_format means for calls and results: a dialect is read
// first and answered in, all others are read too.
func (l Layer) aside() (calls, results string) {
	switch {
	case l.Format == "":
		return "", ""
	case l.Format == string(None):
		return "auto", "auto"
	case toolWords[l.Format].dialect == "" && l.Format != jsonWord:
		if _, known := toolWords[l.Format]; known {
			return "auto", "auto"
		}
	}
	return "prefer:" + l.Format, l.Format
}

// first is the first word on a question.
func (c *chooser) first(of func(saying) word) word {
	for _, s := range c.said {
		if w := of(s); w.text != "" {
			return w
		}
	}
	return word{}
}
