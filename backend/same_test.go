package backend_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/backend"
	"github.com/unifiedtoolprotocol/utp/format"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/internal/golden"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// overHTTP is a text as the reply of a server, whose words are read by c.
func overHTTP(t *testing.T, c parse.Config, text string, cut bool) utp.Reply {
	t.Helper()
	script := "-- turn --\n-- text --\n" + text + "\n"
	if cut {
		script += "-- stop length --\n"
	}
	r := setUp(t, inline(t, script), backend.Config{Provider: backend.OpenAI, Model: "some-model", Formats: in("native"), Parse: c, Adapter: new(format.Adapter)})
	q := &utp.Request{Messages: []utp.Message{utp.NewText(utp.RoleUser, "?")}}
	q.Choice.Name, q.Params.Stop = c.Forced, c.Stops
	if c.Forced != "" {
		q.Choice.Mode = utp.ChoiceNamed
	}
	for _, name := range c.Tools.Names() {
		q.Tools = append(q.Tools, utp.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return mustReply(t, r.Client, q)
}

// said is what of a reply must be the same everywhere. A client gives calls ids.
func said(r utp.Reply) string {
	for i, p := range r.Parts {
		if c, ok := p.(utp.Call); ok {
			c.ID = ""
			r.Parts[i] = c
		}
	}
	return parse.Transcript(r)
}

// The library, told nothing or every dialect, and a client over HTTP read the same
// text alike.
//
// contract: N-05 P-17
func TestTheSameReplyEverywhere(t *testing.T) {
	tools := schema.Compile([]utp.Tool{{Name: "now"}, {Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}})
	for text, want := range map[string]string{
		"All done.<|im_end|>":                        "text \"All done.\"\n",
		"Sure.\nto=functions.now {}\nBye.":           "text \"Sure.\\n\"\ncall now {} from=text:name-json\ntext \"\\nBye.\"\n",
		"Thought: I know.\nFinal Answer: 42":         "text \"Thought: I know.\\nFinal Answer: 42\"\n",
		"Thought: x\nAction: nope\nAction Input: {}": "text \"Thought: x\\nAction: nope\\nAction Input: {}\"\n",
		"<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>\n<tool_response>12</tool_response>\nIt is 12.": "call now {} from=text:hermes\n",
		"<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call></s>":                                           "call now {} from=text:hermes\n",
		"It ends in </s> there.":  "text \"It ends in </s> there.\"\n",
		"I look.\nuser\nDo more.": "text \"I look.\\nuser\\nDo more.\"\n",
	} {
		for name, c := range map[string]parse.Config{"told nothing": {Tools: tools}, "told all": {Grammars: grammar.All(), Tools: tools}} {
			if got := said(parse.Text(c, text)); got != want {
				t.Errorf("%s: %q:\n%swant\n%s", name, text, got, want)
			}
		}
		if got := said(overHTTP(t, parse.Config{Tools: tools}, text, false)); got != want {
			t.Errorf("over HTTP: %q:\n%swant\n%s", text, got, want)
		}
	}
}

// So do they with each case of each dialect, told it or not.
func TestEveryCaseIsReadAlikeOverHTTP(t *testing.T) {
	files, err := filepath.Glob("../grammar/testdata/*/*.txtar")
	if err != nil || len(files) < 500 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	read := 0
	for _, file := range files {
		c, err := golden.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		text := c.Get("in")
		if !utf8.ValidString(text) || strings.Contains("\n"+text, "\n-- ") || strings.TrimSpace(text) == "" {
			continue // no server could send it, or no script say it
		}
		read++
		conf := caseConfig(t, c)
		auto := conf
		auto.Grammars = nil
		all := conf
		all.Grammars = grammar.All()
		want := said(readBy(auto, text, c.Has("cut")))
		if got := said(readBy(all, text, c.Has("cut"))); got != want {
			t.Errorf("%s, told all:\n%swant\n%s", file, got, want)
		}
		if got := said(overHTTP(t, auto, text, c.Has("cut"))); got != want {
			t.Errorf("%s, over HTTP:\n%swant\n%s", file, got, want)
		}
		if conf.Grammars == nil {
			continue
		}
		if got, want := said(overHTTP(t, conf, text, c.Has("cut"))), said(readBy(conf, text, c.Has("cut"))); got != want {
			t.Errorf("%s, told its dialect, over HTTP:\n%swant\n%s", file, got, want)
		}
	}
	if read < len(files)*9/10 {
		t.Errorf("only %d of %d cases were read", read, len(files))
	}
}

func readBy(c parse.Config, text string, cut bool) utp.Reply {
	p := parse.New(c)
	evs := slices.Clone(p.Feed(text))
	return utp.Collect(append(evs, p.Close(cut)...))
}

func caseConfig(t *testing.T, c *golden.Case) parse.Config {
	t.Helper()
	var offered []utp.Tool
	if s := strings.TrimSpace(c.Get("tools")); strings.HasPrefix(s, "[") {
		if err := json.Unmarshal([]byte(s), &offered); err != nil {
			t.Fatal(err)
		}
	} else {
		for _, name := range strings.Fields(s) {
			offered = append(offered, utp.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
		}
	}
	out := parse.Config{Tools: schema.Compile(offered), Prefill: c.Get("prefill"), Forced: c.Get("forced")}
	if c.Has("seen") {
		out.Seen = []string{c.Get("seen")}
	}
	if c.Has("stops") {
		out.Stops = strings.Split(c.Get("stops"), "\n")
	}
	if g, ok := grammar.ByName(filepath.Base(filepath.Dir(c.Path))); ok {
		out.Grammars = []*grammar.Grammar{g}
	}
	return out
}
