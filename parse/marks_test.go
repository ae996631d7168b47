package parse_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/unifiedtoolprotocol/utp"
	"github.com/unifiedtoolprotocol/utp/grammar"
	"github.com/unifiedtoolprotocol/utp/parse"
	"github.com/unifiedtoolprotocol/utp/schema"
)

// However a text is cut, the same of it counts, and the events cover all of it:
// with the marks of a family, with one call a reply, with the words of ReAct.
func TestWhatCountsIsCutInvariant(t *testing.T) {
	words := []string{"a", "b", "[b]", "[bb", "[a", "a]", "ab\nb", "bb]", "\n", " ", "\n\n", "{}",
		"<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>", "<tool_response>", "</s>", "\nuser\n", "user", "<|im_start|>", "assistant\n"}
	marks := grammar.Marks{Noise: []string{"[b]", "[bb"}, Drop: []grammar.Fence{{Open: "[a", Close: "a]"}}, Ends: []string{"ab\nb"}}
	tools := schema.Compile([]utp.Tool{{Name: "f"}})
	labels := append([]string{"Thought: ", "\nFinal Answer: ", "Action: f\nAction Input: ", "\nObservation: "}, words...)
	rapid.Check(t, func(t *rapid.T) {
		react := rapid.Bool().Draw(t, "react")
		words := words
		if react {
			words = labels
		}
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 10).Draw(t, "words"), "")
		c := parse.Config{Tools: tools, OneCall: rapid.Bool().Draw(t, "one")}
		if rapid.Bool().Draw(t, "marks") {
			c.Marks = marks
			c.Marks.Tight = rapid.Bool().Draw(t, "tight")
		}
		if react {
			c.Prefer = []string{"react"}
		}
		var at []int
		for i := range len(in) {
			if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
				at = append(at, i)
			}
		}
		whole, pieces := feed(c, in, false), feed(c, in, false, at...)
		for _, evs := range [][]utp.Event{whole, pieces} {
			if broken := tileLaw(in, evs); broken != "" {
				t.Fatalf("%q cut at %v: %s", in, at, broken)
			}
			if broken := startedLaw(evs); broken != "" {
				t.Fatalf("%q cut at %v: %s", in, at, broken)
			}
		}
		if a, b := merged(whole), merged(pieces); a != b {
			t.Fatalf("%q:\n--- whole\n%s--- cut at %v\n%s", in, a, at, b)
		}
		got := utp.Collect(whole)
		if c.OneCall && len(got.Calls()) > 1 {
			t.Fatalf("%q: %d calls, one was asked for", in, len(got.Calls()))
		}
	})
}

// The blanks behind a marker are no text, also where empty lines behind them became
// one.
func TestBlanksBehindAMarkerInATightText(t *testing.T) {
	const in = "\nFinal Answer: \nObservation: a\n\n\nb"
	c := parse.Config{Prefer: []string{"react"}, Marks: grammar.Marks{Tight: true}}
	for _, at := range [][]int{nil, {15, 16, 17}} {
		if got := utp.Collect(feed(c, in, false, at...)).Text(); got != "Observation: a\n\nb" {
			t.Errorf("cut at %v: %q", at, got)
		}
	}
}

// What is dropped of a reply says why, once it begins.
func TestWhatIsDroppedSaysWhy(t *testing.T) {
	tools := schema.Compile([]utp.Tool{{Name: "f"}})
	const call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"
	for in, want := range map[string]string{
		call + "\n<tool_response>1</tool_response>\nOne.": "<tool_response",
		call + "\nuser\nGo on.":                           "user",
	} {
		why := ""
		for _, e := range feed(parse.Config{Tools: tools}, in, false) {
			if e.Kind == utp.EventMark && e.Text != "" {
				why = e.Text
			}
		}
		if !strings.Contains(why, want) {
			t.Errorf("%q: %q", in, why)
		}
	}
}

// What a family of models writes beside its answers is taken out of them, and of
// empty lines in a row one stays.
func TestMarksOfAFamily(t *testing.T) {
	marks := grammar.Marks{Noise: []string{"[b]"}, Drop: []grammar.Fence{{Open: "[a", Close: "a]"}}, Ends: []string{"### Human"}, Tight: true}
	for in, want := range map[string]string{
		"one\n\n\n\ntwo\n\nthree\n\n\n": "one\n\ntwo\n\nthree\n\n",
		"a\nb\n\n\nc":                   "a\nb\n\nc",
		"x[b]y [a gone a]z":             "xy z",
		"said ### Human: no":            "said ",
		"kept [b [c]":                   "kept [b [c]",
	} {
		if got := parse.Text(parse.Config{Marks: marks}, in).Text(); strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A text among the arguments is handed on while it comes, in JSON and in tags.
func TestTextArgumentsStream(t *testing.T) {
	tools := schema.Compile([]utp.Tool{{Name: "note", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}}}`)}})
	for _, in := range []string{
		"<tool_call>\n{\"name\": \"note\", \"arguments\": {\"text\": \"",
		"<tool_call>\n<function=note>\n<parameter=text>\n",
	} {
		p := parse.New(parse.Config{Tools: tools})
		p.Feed(in)
		got := ""
		for range 300 {
			for _, e := range p.Feed("word ") {
				if e.Kind == utp.EventCallDelta {
					got += e.Text
				}
			}
		}
		if n := strings.Count(got, "word "); n < 200 {
			t.Errorf("%s: %d of 300 words came before the end", in, n)
		}
	}
}
