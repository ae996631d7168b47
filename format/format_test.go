package format_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
)

func choose(t *testing.T, f format.Facts, layers ...format.Layer) format.Choice {
	t.Helper()
	c, err := format.Choose(layers, f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var yes, no = true, false

// brief is a form in a word: "native", "none", or the grammar of text.
func brief(f format.Form) string {
	if f.Way == format.Text {
		return f.Grammar.Name
	}
	return string(f.Way)
}

// Without a word of anybody the server decides, then the model's name, then
// the provider.
//
// contract: F-13 N-07 N-08 N-22 N-23 W-12 CON-12
func TestWhatIsKnownDecides(t *testing.T) {
	for _, c := range []struct {
		provider, model string
		native          *bool
		tools, why      string
	}{
		{"ollama", "qwen3-coder:30b", &yes, "native", "the server says that the model takes tools"},
		{"ollama", "qwen3-coder:30b", &no, "qwen3-coder", "the dialect is that of the model's name"},
		{"ollama", "tinyllama", &no, "react", "the common one of provider ollama"},
		{"openai", "some-model", &no, "hermes", "the common one of provider openai"},
		{"openai", "gpt-5", nil, "native", "provider openai does not say"},
		{"anthropic", "claude-sonnet-4", nil, "native", "provider anthropic"},
		{"gemini", "gemini-3-pro", nil, "native", "provider gemini"},
		{"ollama", "unheard-of", nil, "react", "provider ollama does not say"},
		{"ollama", "qwen2.5", nil, "hermes", "the dialect is that of the model's name"},
		{"unheard-of", "unheard-of", nil, "native", "provider unheard-of"},
		{"", "", nil, "native", "the server does not say"},
		{"gguf", "tinyllama", nil, "react", "(gguf) does not say"},
		{"huggingface", "tinyllama", nil, "react", "provider huggingface"},
		{"openai", "models/TinyLlama-1.1B.Q4.gguf", nil, "react", "a bare weights file"},
		{"openai", "models/TinyLlama-1.1B.Q4.gguf", &yes, "native", "the server says"},
		{"ollama", "hf.co/bartowski/TinyLlama-GGUF:Q4", nil, "react", "a bare weights file"},
		{"agent", "any", nil, "none", "provider agent"},
	} {
		got := choose(t, format.Facts{Provider: c.provider, Model: c.model, Native: c.native})
		if brief(got.Tools) != c.tools || !strings.Contains(got.Tools.Why, c.why) {
			t.Errorf("%s %s: %s (%s), want %s (%s)", c.provider, c.model, brief(got.Tools), got.Tools.Why, c.tools, c.why)
		}
		if results := brief(got.Results); results != c.tools && c.tools != "none" {
			t.Errorf("%s %s: results %s, want them as the tools, %s", c.provider, c.model, results, c.tools)
		}
		if !got.Calls.Native || !got.Calls.Text || got.Calls.Only || len(got.Warnings) > 0 {
			t.Errorf("%s %s: calls %s, warnings %q", c.provider, c.model, got.Calls, got.Warnings)
		}
	}
}

// The JSON form of a provider is its own; one that nobody knows gets the default.
//
// contract: M-02
func TestTheJSONFormOfAProvider(t *testing.T) {
	for names, want := range map[string]string{
		"openai mistral deepseek grok": "openai-json", "gemini": "gemini-json", "anthropic": "anthropic-json",
		"ollama kimi qwen lmstudio zhipu baidu unheard-of": "default-json",
	} {
		for name := range strings.FieldsSeq(names) {
			c := choose(t, format.Facts{Provider: strings.ToUpper(name)}, format.Layer{From: "x", Format: "json"})
			if brief(c.Tools) != want || c.Calls.Prefer[0] != want || brief(c.Results) != want {
				t.Errorf("%s: tools %s, calls %q, results %s, want %s", name, brief(c.Tools), c.Calls.Prefer, brief(c.Results), want)
			}
		}
	}
	c := choose(t, format.Facts{Provider: "anthropic"}, format.Layer{From: "x", Tools: "text"})
	if g := c.Tools.Grammar; g.Manifest != "elements" {
		t.Errorf("anthropic as text: %s, want the XML form", g.Name)
	}
}

// What each word of tool_format makes of tools, calls and results.
//
// contract: N-22 N-10 N-09 W-01
func TestToolFormat(t *testing.T) {
	for word, want := range map[string]string{
		"native": "native native", "react": "react react", "xml": "hermes hermes", "json": "default-json default-json",
		"qwen3-coder": "qwen3-coder qwen3-coder", "auto": "react react", "none": "none native", "text": "react react",
	} {
		c := choose(t, format.Facts{Provider: "ollama", Model: "tiny"}, format.Layer{From: "x", Format: word})
		if got := brief(c.Tools) + " " + brief(c.Results); got != want || c.Calls.Only {
			t.Errorf("%s: tools and results %s, want %s; calls %s", word, got, want, c.Calls)
		}
		if c.Tools.Way == format.Text && c.Calls.Prefer[0] != c.Tools.Grammar.Name {
			t.Errorf("%s: told in %s and read first as %q", word, c.Tools.Grammar.Name, c.Calls.Prefer)
		}
	}
}

// The word of a provider means its own form there, and the dialect that is
// nearest to it elsewhere.
//
// contract: CON-07 CON-14
func TestTheWordOfAProvider(t *testing.T) {
	for _, c := range []struct{ provider, word, want string }{
		{"anthropic", "anthropic", "native"}, {"anthropic", "anthropic_xml", "anthropic"},
		{"ollama", "anthropic", "anthropic"}, {"openai", "anthropic_xml", "anthropic"},
		{"gemini", "gemini", "native"}, {"openai", "gemini", "gemini-json"},
	} {
		got := choose(t, format.Facts{Provider: c.provider, Model: "m"}, format.Layer{From: "x", Tools: c.word, Results: c.word})
		if brief(got.Tools) != c.want || brief(got.Results) != c.want {
			t.Errorf("%s at %s: %s, results %s, want %s", c.word, c.provider, brief(got.Tools), brief(got.Results), c.want)
		}
	}
}

// A provider's own form goes as text where only its text is read, as the tools
// could not be called otherwise.
//
// contract: N-17 CON-07
func TestTheFormOfAProviderWhereItsTextIsRead(t *testing.T) {
	got := choose(t, format.Facts{Provider: "anthropic", Model: "claude-sonnet-4-20250514"},
		format.Layer{From: "x", Tools: "anthropic", Calls: "anthropic_xml", Results: "anthropic"})
	if brief(got.Tools) != "anthropic" || brief(got.Results) != "anthropic" || got.Calls.Native || len(got.Warnings) > 0 {
		t.Errorf("tools %s, calls %s, results %s, warnings %q", got.Tools, got.Calls, got.Results, got.Warnings)
	}
}

// Every grammar is a word of each key, and is told, read and answered in.
//
// contract: N-10 N-13
func TestEveryGrammarIsAWord(t *testing.T) {
	for _, g := range grammar.All() {
		if g.Name == "anthropic" {
			continue // as a word, the form of the API: TestCallParser
		}
		c := choose(t, format.Facts{}, format.Layer{From: "x", Tools: g.Name, Calls: g.Name, Results: g.Name})
		if brief(c.Tools) != g.Name || brief(c.Results) != g.Name || !c.Calls.Only || !slices.Equal(c.Calls.Prefer, format.Dialects(g.Name)) {
			t.Errorf("%s: %s, %s, %s", g.Name, c.Tools, c.Calls, c.Results)
		}
	}
}

// call_parser: one dialect alone, or first of all; the model's own dialects
// stand after what is set.
//
// contract: N-09 N-13 N-14 N-15 CON-13 CON-02
func TestCallParser(t *testing.T) {
	for word, want := range map[string]string{
		"auto":         "in the server's own field and in the text, in every dialect, first hermes, tools-tag",
		"openai":       "in the server's own field and in the text, in every dialect, first hermes, tools-tag",
		"ollama":       "in the server's own field and in the text, in every dialect, first hermes, tools-tag",
		"native":       "in the server's own field only",
		"text":         "in the text only, in every dialect, first hermes, tools-tag",
		"react":        "in the text only, as react",
		"qwen":         "in the text only, as qwen_xml, hermes, qwen3-coder",
		"anthropic":    "in the server's own field and in the text, in every dialect, first anthropic_xml, hermes, tools-tag",
		"json":         "in the text only, as openai-json, json-fence, json-bare, json-tag",
		"prefer:react": "in the server's own field and in the text, in every dialect, first react, hermes, tools-tag",
	} {
		c := choose(t, format.Facts{Provider: "openai", Model: "qwen2.5-coder:7b", Native: &yes}, format.Layer{From: "x", Tools: "native", Calls: word})
		if got := c.Calls.String(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
	c := choose(t, format.Facts{Provider: "openai", Native: &yes}, format.Layer{From: "x", Calls: "react"})
	if brief(c.Tools) != "react" {
		t.Errorf("read as react alone, told %s", c.Tools)
	}
}

// Every pair of levels: the lower one decides, in whatever order they come.
//
// contract: CON-27 N-20
func TestPrecedence(t *testing.T) {
	levels := []format.Level{format.Call, format.Team, format.Profile, format.Agent, format.Env, format.Model}
	for i, high := range levels {
		for _, low := range levels[i+1:] {
			a := format.Layer{Level: high, From: "high", Tools: "react", Calls: "prefer:react", Results: "react"}
			b := format.Layer{Level: low, From: "low", Tools: "hermes", Calls: "hermes", Results: "hermes"}
			for _, layers := range [][]format.Layer{{a, b}, {b, a}} {
				c := choose(t, format.Facts{Model: "m", Native: &yes}, layers...)
				if brief(c.Tools) != "react" || brief(c.Results) != "react" || c.Calls.Only || !strings.HasPrefix(c.Tools.Why, "high: ") {
					t.Errorf("level %d over %d: %s (%s), %s, %s", high, low, c.Tools, c.Tools.Why, c.Calls, c.Results)
				}
			}
			c := choose(t, format.Facts{Model: "m"}, format.Layer{Level: high, From: "high", Calls: "react"}, b)
			if brief(c.Tools) != "hermes" || !slices.Equal(c.Calls.Prefer, []string{"react"}) {
				t.Errorf("each key by itself: %s, %s", c.Tools, c.Calls)
			}
		}
	}
	c := choose(t, format.Facts{Provider: "ollama", Model: "qwen3-coder", Native: &no}, format.Layer{Level: format.Team, From: "a", Tools: "auto"}, format.Layer{Level: format.Agent, From: "b", Tools: "react"})
	if brief(c.Tools) != "qwen3-coder" {
		t.Errorf("auto leaves it to what is known of the model: %s", c.Tools)
	}
}

// A dialect for text alone forces nothing.
func TestTheDialectOfText(t *testing.T) {
	l := format.Layer{From: "route", Text: "hermes"}
	for _, c := range []struct {
		native *bool
		tools  string
		want   string
	}{{&yes, "", "native"}, {&no, "", "hermes"}, {&yes, "text", "hermes"}, {&yes, "react", "react"}} {
		l.Tools = c.tools
		if got := choose(t, format.Facts{Model: "qwen3-coder", Native: c.native}, l); brief(got.Tools) != c.want {
			t.Errorf("%q: %s (%s), want %s", c.tools, got.Tools, got.Tools.Why, c.want)
		}
	}
}

// A layer may speak of some models only.
func TestALayerForSomeModels(t *testing.T) {
	for model, want := range map[string]string{
		"qwen2.5:7b": "react", "QWEN2.5:7b": "react", "hf.co/Qwen/qwen2.5:7b": "react", "qwen3:8b": "native", "": "native",
	} {
		c := choose(t, format.Facts{Model: model, Native: &yes}, format.Layer{Level: format.Model, From: "x", For: "qwen2.5", Format: "react"})
		if brief(c.Tools) != want {
			t.Errorf("%q: %s, want %s", model, c.Tools, want)
		}
	}
}

// The team's flag goes before the agent's, and unset leaves it to that: the
// six cases, and more than one agent layer.
//
// contract: N-19 N-20 CON-27
func TestForcedXML(t *testing.T) {
	for _, c := range []struct {
		team, agent *bool
		want        string
	}{
		{nil, &no, "native"}, {nil, &yes, "autobyteus"},
		{&yes, &no, "autobyteus"}, {&yes, &yes, "autobyteus"},
		{&no, &no, "native"}, {&no, &yes, "native"},
	} {
		got := choose(t, format.Facts{Provider: "openai", Native: &yes},
			format.Layer{Level: format.Team, From: "team", XML: c.team}, format.Layer{Level: format.Agent, From: "agent", XML: c.agent})
		if brief(got.Tools) != c.want || brief(got.Results) != c.want {
			t.Errorf("team %v, agent %v: %s, want %s", c.team, c.agent, got.Tools, c.want)
		}
		if forced := c.want != "native"; got.Calls.Only != forced || len(got.Warnings) > 0 != forced {
			t.Errorf("team %v, agent %v: calls %s, warnings %q", c.team, c.agent, got.Calls, got.Warnings)
		}
	}
	c := choose(t, format.Facts{}, format.Layer{Level: format.Team, From: "t", XML: &no}, format.Layer{Level: format.Agent, From: "a", XML: &yes, Tools: "react"})
	if brief(c.Tools) != "react" {
		t.Errorf("false lifts the flag and nothing else: %s", c.Tools)
	}
}

// What is set against what is known is done, and warned of.
//
// contract: N-21
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		name  string
		facts format.Facts
		layer format.Layer
		want  string
	}{
		{"XML on a native provider", format.Facts{Provider: "openai"}, format.Layer{XML: &yes}, "use_xml_tool_format"},
		{"XML on a model that takes tools", format.Facts{Provider: "ollama", Native: &yes}, format.Layer{XML: &yes}, "use_xml_tool_format"},
		{"XML where nothing else goes", format.Facts{Provider: "ollama", Native: &no}, format.Layer{XML: &yes}, ""},
		{"XML on bare weights", format.Facts{Provider: "gguf"}, format.Layer{XML: &yes}, ""},
		{"native on a model that cannot", format.Facts{Model: "tiny", Native: &no}, format.Layer{Format: "native"}, "tiny takes no tools"},
		{"native on one that can", format.Facts{Native: &yes}, format.Layer{Format: "native"}, ""},
		{"native tools, calls in the text", format.Facts{}, format.Layer{Tools: "native", Calls: "react"}, "native calls will be dropped"},
		{"text tools, native calls", format.Facts{}, format.Layer{Tools: "react", Calls: "native"}, "will not run"},
		{"another dialect of one's own will", format.Facts{Native: &yes}, format.Layer{Format: "react"}, ""},
	} {
		c.layer.From = "x"
		got := choose(t, c.facts, c.layer).Warnings
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want) || !strings.Contains(got[0], "x: ")) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// contract: N-13 CON-12
func TestAnUnknownWordIsAnError(t *testing.T) {
	for _, l := range []format.Layer{{Tools: "nativ"}, {Calls: "qwen_xlm"}, {Calls: "prefer:"}, {Calls: "prefer:nobody"}, {Results: "none"}, {Format: "reakt"}, {Text: "nobody"}} {
		l.From = "profile big"
		if _, err := format.Choose([]format.Layer{l}, format.Facts{}); err == nil || !strings.Contains(err.Error(), "profile big: ") {
			t.Errorf("%+v: %v", l, err)
		}
	}
	own := &grammar.Grammar{Name: "house-style"}
	c, err := format.Choose([]format.Layer{{From: "x", Format: "house-style"}}, format.Facts{Own: []*grammar.Grammar{own}})
	if err != nil || c.Tools.Grammar != own {
		t.Errorf("a dialect of one's own: %+v, %v", c.Tools, err)
	}
}

// Every word that is listed is known.
func TestTheListsAreComplete(t *testing.T) {
	for _, w := range format.ToolWords() {
		choose(t, format.Facts{}, format.Layer{From: "x", Tools: w, Format: w})
	}
	for _, w := range format.ResultWords() {
		choose(t, format.Facts{}, format.Layer{From: "x", Results: w})
	}
	for _, w := range format.CallWords() {
		choose(t, format.Facts{}, format.Layer{From: "x", Calls: w})
		if w != "auto" {
			choose(t, format.Facts{}, format.Layer{From: "x", Calls: "prefer:" + w})
		}
	}
}

// Learned is a word for tools that leaves the form to whoever asks: a layer of the
// call names it, and until then the form is that of auto.
func TestLearned(t *testing.T) {
	set := format.Layer{Level: format.Agent, From: "[tools]", Format: format.Learned}
	c := choose(t, format.Facts{Provider: "ollama", Native: &yes}, set)
	if !c.Learned || c.Tools.Way != format.Native || !c.Calls.Text {
		t.Errorf("%+v", c)
	}
	picked := format.Layer{Level: format.Call, From: "learned", Format: "hermes"}
	if c = choose(t, format.Facts{Provider: "ollama", Native: &yes}, set, picked); c.Learned || c.Tools.Grammar.Name != "hermes" || c.Results.Grammar.Name != "hermes" {
		t.Errorf("%+v", c)
	}
	if c = choose(t, format.Facts{}, format.Layer{Level: format.Call, From: "--tool-format", Format: "react"}, set); c.Learned {
		t.Error("a form that is set is learned")
	}
}

func TestSaid(t *testing.T) {
	layers := []format.Layer{{Level: format.Agent, From: "[tools]", Results: "native"}, {Level: format.Call, From: "--tool-format", Format: "react"}, {Level: format.Model, From: "m", For: "other", Format: "xml"}}
	want := []string{"--tool-format: tool_format = react", "[tools]: result_format = native"}
	if got := format.Said(layers, "m"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// What forces nothing is said too: it may be why another one does not.
//
// contract: N-20
func TestSaidOfXML(t *testing.T) {
	layers := []format.Layer{{Level: format.Team, From: "team t", XML: &no}, {Level: format.Profile, From: "profile p", XML: &yes, Tools: "react"}}
	want := []string{"team t: use_xml_tool_format = false", "profile p: use_xml_tool_format = true", "profile p: definition_format = react"}
	if got := format.Said(layers, "m"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	want = []string{"profile p: use_xml_tool_format = true"}
	if got := format.Said(layers[1:], "m"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFormsInWords(t *testing.T) {
	for word, want := range map[string]string{"native": "in the server's own field", "react": "as text in react", "none": "not at all"} {
		if got := choose(t, format.Facts{}, format.Layer{From: "x", Tools: word}).Tools.String(); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
