package parse_test

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

var notes = schema.Compile([]utp.Tool{
	{Name: "write_note", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"},"title":{"type":"string"}},"required":["text","title"]}`)},
	{Name: "get_weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)},
})

// inTags are two calls in a dialect with tagged arguments, the text of the first
// being value; ok reports whether the dialect can say so.
func inTags(g *grammar.Grammar, value string) (text string, ok bool) {
	const at = "valueValueVALUE"
	text, err := prompt.Calls(g, []utp.Call{
		{ID: "call_1_1", Name: "write_note", Args: []byte(`{"text":"` + at + `","title":"the title"}`)},
		{ID: "call_1_2", Name: "get_weather", Args: []byte(`{"city":"Oslo"}`)},
	})
	if g.Body != grammar.Tagged || err != nil || strings.Count(text, at) != 1 {
		return "", false
	}
	return strings.Replace(strings.TrimPrefix(text, g.Prefill), at, value, 1), true
}

// documents are texts with calls in a dialect.
func documents(g *grammar.Grammar) []string {
	calls, _ := inTags(g, "x")
	return []string{"Calls:\n" + calls + "\nThat is all.", calls}
}

// sayings are texts that speak of the markup of a dialect.
func sayings(g *grammar.Grammar) (out []string) {
	for level, list := range g.Markers() {
		for _, m := range list {
			if level == "raw.open" { // after it a value is taken word for word
				continue
			}
			m = strings.NewReplacer("{name}", "write_note", "{key}", "note", "{type}", "string", "{id}", "1", "{n}", "1").Replace(strings.TrimSpace(m))
			if m != "" && !strings.Contains(m, "{") {
				out = append(out, "It writes "+m+" there.", m+" is how it begins.")
			}
		}
	}
	return out
}

// TestAValueSwallowsNoNeighbour: whatever stands in an argument, the next argument
// and the next call are read, in every dialect with tagged arguments.
func TestAValueSwallowsNoNeighbour(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	words := []string{" ", "\n", "x", "a b", "<", ">", "</", "&amp;", "\"", "'", "{", "}", "[", "]", "\\n", "<b>", "</b>", "```", "|", "é", "null", "3", "<!--", "]]>"}
	for _, g := range grammar.All() {
		values, docs := append(sayings(g), documents(g)...), documents(g)
		said := len(values)
		for range 40 {
			var b strings.Builder
			for range 1 + rng.Intn(8) {
				if rng.Intn(4) == 0 {
					b.WriteString(docs[rng.Intn(len(docs))])
				}
				b.WriteString(words[rng.Intn(len(words))])
			}
			values = append(values, b.String())
		}
		cfg := parse.Config{Tools: notes, Grammars: []*grammar.Grammar{g}}.Compiled()
		for i, v := range values {
			in, ok := inTags(g, v)
			if !ok {
				break
			}
			r := parse.Text(cfg, in)
			var made []string
			for _, c := range r.Calls() {
				var args map[string]string
				_ = json.Unmarshal(c.Args, &args)
				made = append(made, c.Name, args["title"])
				if n := strings.TrimSpace(args["text"]); i < said && c.Name == "write_note" && n != strings.TrimSpace(v) {
					t.Errorf("%s: %q is read as %q", g.Name, v, n)
				}
			}
			if got := strings.Join(made, " "); got != "write_note the title get_weather " {
				t.Errorf("%s: %q: %s\n%s", g.Name, v, got, parse.Transcript(r))
			}
			if broken := lawOf(cfg, in, false, every(len(in), 1+i%3)); broken != "" {
				t.Errorf("%s: %q: %s", g.Name, v, broken)
			}
		}
	}
}

// TestADocumentThatIsCutOffRunsNothing: where the output is cut off in an argument
// that holds calls, those are not made.
func TestADocumentThatIsCutOffRunsNothing(t *testing.T) {
	for _, g := range grammar.All() {
		in, ok := inTags(g, documents(g)[0])
		if !ok {
			continue
		}
		cfg := parse.Config{Tools: notes}
		end := strings.Index(in, "That is all.")
		if got := calls(feed(cfg, in[:end+len("That is all.")], true)); got != "" {
			t.Errorf("%s: %s", g.Name, got)
		}
	}
}

// TestNullIsNoListOfIt: the word null for an optional list is none, in every dialect
// with tagged arguments.
func TestNullIsNoListOfIt(t *testing.T) {
	tools := schema.Compile([]utp.Tool{{Name: "get_weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["city"]}`)}})
	read := 0
	for _, g := range grammar.All() {
		text, err := prompt.Call(g, utp.Call{ID: "call_1_1", Name: "get_weather", Args: []byte(`{"city":"Oslo","tags":"valueVALUE"}`)})
		if g.Body != grammar.Tagged || err != nil || !strings.Contains(text, "valueVALUE") {
			continue
		}
		in := strings.Replace(strings.TrimPrefix(text, g.Prefill), "valueVALUE", "null", 1)
		got := calls(feed(parse.Config{Tools: tools, Grammars: []*grammar.Grammar{g}, Check: true}, in, false))
		if read++; got != "get_weather {\"city\":\"Oslo\"}\n" {
			t.Errorf("%s: %s", g.Name, got)
		}
	}
	if read < 20 {
		t.Errorf("%d dialects", read)
	}
}

// TestEveryDialectWithTagsIsTried: the tests above leave none of them out that can
// say two calls.
func TestEveryDialectWithTagsIsTried(t *testing.T) {
	tried := 0
	for _, g := range grammar.All() {
		if _, ok := inTags(g, "x"); ok {
			tried++
		}
	}
	if tried < 25 {
		t.Errorf("%d dialects", tried)
	}
}
