package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// forced is the dialect of use_xml_tool_format; jsonWord asks for the JSON form
// of the provider.
const (
	forced   = "autobyteus"
	jsonWord = "json"
)

// Learned is the word for a form that is picked by what was seen of the model.
const Learned = "learned"

// meaning is what a word says of tools and results.
type meaning struct {
	way     Way    // "": what is known of the model decides
	dialect string // of Text; "": what is known of the model decides
	home    string // the provider whose own form it is: there it is native
}

// toolWords are the words of tool_format and definition_format that are no
// grammar's name. xml is the old form of llm-bawt, JSON in <tool_call>.
var toolWords = map[string]meaning{
	"auto":   {},
	"openai": {}, // the servers' common form: native where the model can
	"ollama": {},
	"native": {way: Native},
	"none":   {way: None},
	"text":   {way: Text},
	Learned:  {}, // whoever asks names a form for each conversation; without one as auto
	"xml":    {way: Text, dialect: "hermes"},
	jsonWord: {way: Text},

	"anthropic": {way: Text, dialect: "anthropic", home: "anthropic"},
	"gemini":    {way: Text, dialect: "gemini-json", home: "gemini"},
}

// means is what a word says to this provider. A provider's own form is native
// only where native calls are read.
func (c *chooser) means(text string, calls Reading) (m meaning, known bool) {
	m, known = toolWords[text]
	if m.home != "" && m.home == c.kind() && calls.Native {
		m = meaning{way: Native}
	}
	return m, known
}

// callWords are the words of call_parser that are no grammar's name: the
// grammars to look for, none of those that name no dialect.
var callWords = map[string][]string{
	"auto": nil, "openai": nil, "ollama": nil, "native": nil, "text": nil,
	"qwen":          {"qwen_xml", "hermes", "qwen3-coder"},
	"qwen_xml":      {"qwen_xml", "hermes", "qwen3-coder"},
	"anthropic":     {"anthropic_xml"},
	"anthropic_xml": {"anthropic_xml"},
	"gemini":        {"gemini-json"},
	"xml":           {"hermes"},
	jsonWord:        {"json-fence", "json-bare", "json-tag"},
}

// ToolWords lists the words of definition_format beside the grammars' names.
func ToolWords() []string {
	return []string{"openai", "auto", "ollama", "native", "text", "react", "xml", "json", "anthropic", "anthropic_xml", "gemini", "qwen_xml", "none", Learned}
}

// ResultWords lists those of result_format.
func ResultWords() []string {
	return slices.DeleteFunc(ToolWords(), func(w string) bool { return w == string(None) || w == Learned })
}

// CallWords lists those of call_parser. Each but auto may stand after prefer:.
func CallWords() []string {
	return []string{"auto", "openai", "anthropic", "ollama", "native", "text", "react", "xml", "json", "anthropic_xml", "gemini", "qwen_xml", "qwen"}
}

// Dialects lists the grammars that a word of call_parser names, by names that
// package grammar knows.
func Dialects(calls string) []string {
	name := strings.TrimPrefix(calls, "prefer:")
	if names, ok := callWords[name]; ok {
		return names
	}
	return []string{name}
}

// named finds a dialect among the caller's own and the built-in ones.
func (c *chooser) named(name string) *grammar.Grammar {
	for _, g := range c.Own {
		if g.GoesBy(name) {
			return g
		}
	}
	if name == string(None) {
		return nil // an alias of a grammar, and a word of our own
	}
	g, _ := grammar.ByName(name)
	return g
}

// check refuses a word that means nothing.
func (c *chooser) check(s saying) error {
	_, tools := toolWords[s.tools.text]
	if s.tools.text != "" && !tools && c.named(s.tools.text) == nil {
		return unknown(s.tools, ToolWords())
	}
	_, results := toolWords[s.results.text]
	if s.results.text != "" && (!results || !slices.Contains(ResultWords(), s.results.text)) && c.named(s.results.text) == nil {
		return unknown(s.results, ResultWords())
	}
	if s.text.text != "" && c.named(s.text.text) == nil {
		return unknown(s.text, nil)
	}
	for _, name := range Dialects(s.calls.text) {
		if s.calls.text != "" && c.named(name) == nil {
			return unknown(s.calls, CallWords())
		}
	}
	return nil
}

func unknown(w word, want []string) error {
	return fmt.Errorf("format: %s: unknown: want %s", w.why, strings.Join(append(want, "or the name of a grammar"), ", "))
}
