package parse_test

import (
	"testing"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// mine is a dialect that no built-in one reads.
var mine = &grammar.Grammar{Name: "mine", Think: grammar.Fence{Open: "Idea:", Close: "Done thinking"},
	Call: grammar.Fence{Open: "«{name}»", Close: "«end»"}, Body: grammar.Args}

var clock = []utp.Tool{{Name: "now"}}

// told are replies whose ordinary words are markers of some dialect, and calls
// of several dialects.
var told = []string{
	"All done.<|im_end|>",
	"Sure.\nto=functions.now {}\nBye.",
	"Thought: I know.\nFinal Answer: 42",
	"Thought: x\nAction: nope\nAction Input: {}",
	"Thought: x\nAction: now\nAction Input: {}",
	" to=functions.now<|message|>{}",
	"commentary to=functions.now code<|message|>{}<|call|>",
	"<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>",
	"```json\n{\"name\": \"now\", \"arguments\": {}}\n```",
}

func read(c parse.Config, text string) string {
	c.Tools = schema.Compile(clock)
	return merged(feed(c, text, false))
}

// A list of all built-in grammars says nothing of the text, as no list does.
func TestAllGrammarsReadAsNil(t *testing.T) {
	for _, text := range told {
		for _, prefer := range [][]string{nil, {"react"}, {"harmony"}} {
			want := read(parse.Config{Prefer: prefer}, text)
			if got := read(parse.Config{Prefer: prefer, Grammars: grammar.All()}, text); got != want {
				t.Errorf("%q, prefer %v:\nall %s\nnil %s", text, prefer, got, want)
			}
		}
	}
}

// A dialect of the caller's own joins all others and changes nothing that they read.
func TestMoreJoinsAuto(t *testing.T) {
	for _, c := range []parse.Config{{More: []*grammar.Grammar{mine}}, {Grammars: append([]*grammar.Grammar{mine}, grammar.All()...)}} {
		for _, c := range []parse.Config{c, c.Compiled()} {
			for _, text := range told {
				if got, want := read(c, text), read(parse.Config{}, text); got != want {
					t.Errorf("%q:\nmore %s\nauto %s", text, got, want)
				}
			}
			r := parse.Text(c, "Idea: I look.\n«now»{}«end»\n<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>")
			if calls := r.Calls(); len(calls) != 2 || calls[0].Source != "text:mine" || calls[1].Source != "text:hermes" || r.Thinking() != "" {
				t.Errorf("calls %v, thinking %q", calls, r.Thinking())
			}
			c.Prefer = []string{"mine"}
			if r = parse.Text(c, "Idea: I look.\n«now»{}«end»"); r.Thinking() == "" {
				t.Errorf("its words do not count where it is preferred: %+v", r)
			}
		}
	}
}

// It goes before a built-in dialect of the same markers, and takes the place of
// one of its name.
func TestMoreGoesFirst(t *testing.T) {
	text := "<tool_call>{\"name\": \"now\", \"arguments\": {}}</tool_call>"
	hermes, _ := grammar.ByName("hermes")
	alike, gone := *hermes, *mine
	alike.Name, alike.Aliases, gone.Name = "house", nil, "hermes"
	for name, g := range map[string]*grammar.Grammar{"house": &alike, "hermes": &gone} {
		calls := parse.Text(parse.Config{More: []*grammar.Grammar{g}, Grammars: []*grammar.Grammar{hermes}}, text).Calls()
		if took := len(calls) == 1 && calls[0].Source == "text:house"; took != (name == "house") || !took && len(calls) > 0 {
			t.Errorf("%s: %+v", name, calls)
		}
	}
}

// What Compiled made ready is used for its grammars alone.
func TestCompiledFollowsItsGrammars(t *testing.T) {
	c := parse.Config{More: []*grammar.Grammar{mine}}.Compiled()
	c.More = nil
	if r := parse.Text(c, "«now»{}«end»"); len(r.Calls()) != 0 {
		t.Errorf("a dialect that is no longer there reads %+v", r.Calls())
	}
	c = parse.Config{}.Compiled()
	c.Prefer = []string{"react"}
	if r := parse.Text(c, "Thought: I know.\nFinal Answer: 42"); r.Thinking() == "" {
		t.Errorf("what is preferred later does not count: %+v", r)
	}
}
