package parse_test

import (
	"strings"
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/prompt"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// TestACutLeavesNoMarkup: wherever the output ends in two calls, what was written of
// markers is a problem and no words of the answer, and only whole calls are made.
func TestACutLeavesNoMarkup(t *testing.T) {
	two := []utp.Call{{ID: "call_1_1", Name: "get_weather", Args: []byte(`{"city":"Oslo"}`)}, {ID: "call_1_2", Name: "get_weather", Args: []byte(`{"city":"Rome"}`)}}
	cfg := parse.Config{Tools: forecast}.Compiled()
	// their openers are words of ordinary text, or markup like any other
	plain := map[string]bool{"functionary-v3.2": true, "json-tag": true, "laguna": true, "cline": true, "glm-bare": true, "pythonic": true}
	for _, g := range grammar.All() {
		if plain[g.Name] {
			continue
		}
		text, err := prompt.Calls(g, two)
		if err != nil {
			continue // no two calls in one reply
		}
		text = strings.TrimPrefix(text, g.Prefill)
		for n := 1; n < len(text); n++ {
			r := utp.Collect(feed(cfg, text[:n], true))
			if said := strings.TrimSpace(r.Message.Text()); len(said) > 3 && strings.ContainsAny(said, "<|[>]｜") {
				t.Errorf("%s: %q leaves %q: %s", g.Name, text[:n], said, parse.Transcript(r))
				break
			}
			for _, c := range r.Calls() {
				if string(c.Args) != string(two[0].Args) && string(c.Args) != string(two[1].Args) {
					t.Errorf("%s: %q makes %s", g.Name, text[:n], c.Args)
				}
			}
			if n%5 != 0 {
				continue
			}
			if broken := lawOf(cfg, text[:n], true, every(n, 1)); broken != "" {
				t.Fatalf("%s: %q: %s", g.Name, text[:n], broken)
			}
		}
	}
}

// TestABareListLosesNothing: in a list of calls without markers what is no call of an
// offered tool is a problem, and the calls around it are made.
func TestABareListLosesNothing(t *testing.T) {
	const one, no = `{"name": "get_weather", "arguments": {"city": "Oslo"}}`, "get_weather {\"city\":\"Oslo\"}\n"
	for _, c := range []struct {
		in, want string
		kind     utp.ProblemKind
	}{
		{"[" + one + `, {"name": "nope", "arguments": {}}, {"name": "now"}]`, no + "now {}\n", utp.ProblemUnknownTool},
		{`[get_weather(city="Oslo"), nope(x=1), now()]`, no + "now {}\n", utp.ProblemUnknownTool},
		{"[" + one + `, 3, {"name": "now"}]`, no + "now {}\n", utp.ProblemMalformed},
		{"[" + one + `, {"a": 1}]`, no, utp.ProblemMissingName},
		{"[" + one + `, {"name": "now", "arguments": [}}, ` + one + "]", no, utp.ProblemMalformed},
		{"[" + one + `, {"name":`, no, utp.ProblemTruncated},
		{`[get_weather(city="Oslo"), get_w`, no, utp.ProblemTruncated},
		{`[get_weather(city="Oslo"), get_weather(city="Ro`, no, utp.ProblemTruncated},
		{`[get_weather(city="Oslo"), get_weather(city=), now()]`, no, utp.ProblemMalformed},
	} {
		r := parse.Text(parse.Config{Tools: forecast}, c.in)
		if got := calls(feed(parse.Config{Tools: forecast}, c.in, false)); got != c.want {
			t.Errorf("%s: calls\n%swant\n%s", c.in, got, c.want)
		}
		if len(r.Problems) != 1 || r.Problems[0].Kind != c.kind {
			t.Errorf("%s: problems %v, want one, %s", c.in, r.Problems, c.kind)
		}
		if broken := lawOf(parse.Config{Tools: forecast}, c.in, false, every(len(c.in), 1)); broken != "" {
			t.Errorf("%s: %s", c.in, broken)
		}
	}
}

// TestWordsLeaveAtOnce: the words of an ordinary reply are given out with the piece
// that they come in. Where tools are known, the first word of a line may be one's
// name, and waits for what follows it.
func TestWordsLeaveAtOnce(t *testing.T) {
	set := schema.Compile([]utp.Tool{{Name: "read_file"}, {Name: "search"}})
	for name, c := range map[string]parse.Config{"no tools": {}, "two tools": {Tools: set}, "hermes": {Prefer: []string{"hermes"}, Tools: set}} {
		p := parse.New(c)
		came, said := "", ""
		for _, piece := range []string{"Hell", "o", " there", ", all is well.", "\n", "Where", " it is", " I know", "\n"} {
			came += piece
			for _, e := range p.Feed(piece) {
				said += e.Text
			}
			rest := strings.TrimPrefix(came, said)
			word := came[strings.LastIndex(came, "\n")+1:]
			if rest != "" && (c.Tools == nil || rest != word || strings.Contains(word, " ")) {
				t.Errorf("%s: of %q, %q waits", name, came, rest)
			}
		}
	}
}
