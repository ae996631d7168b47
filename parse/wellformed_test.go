package parse_test

import (
	"strings"

	"github.com/unifiedtoolprotocol/utp/grammar"
)

// broken are the words by which a row's notes name a malformation or a
// truncation, or say that its expectation is none of the format: that engines
// answer differently, that only a crash is looked for, that calls were not asked
// for. docs/conformance.md repeats the rule.
var broken = []string{
	"malformed", "truncat", "missing", "mismatch", "garbage", "invalid", "not valid json", "incomplete", "partial", "unfinished",
	"unterminated", "stream terminates", "without matching", "without the required", "without name", "duplicated", "orphan", "skipped",
	"no closing", "no end tag", "no explicit end", "no call:name", "no to=functions", "no tool_sep", "no fenced json", "no argument body",
	"no <|message|> body", "no <function> body", "no function name", "no body", "no delimiters", "no tags", "emitted as an xml tag",
	"recover", "repair", "raw text", "engine drops", "strict mode", "test only asserts that nothing crashes", "must not crash", "must not raise",
	"peers disagree", "result differs", "parse_tool_calls=false",
}

// wellFormed reports whether a row holds what its format means: its notes name
// no malformation, engines that were asked agree, its brackets and blocks are closed, each
// expected call has its name in the text, and a text from which no call is
// expected has no opener of the format.
func (r row) wellFormed() bool {
	if !r.soundNotes() {
		return false
	}
	for _, pair := range [...][2]string{{"{", "}"}, {"[", "]"}, {"<tool_call>", "</tool_call>"}} {
		if strings.Count(r.Input, pair[0]) != strings.Count(r.Input, pair[1]) {
			return false
		}
	}
	for _, c := range r.Expect.ToolCalls {
		if c.Name == "" || !strings.Contains(r.Input, c.Name) {
			return false
		}
	}
	return len(r.Expect.ToolCalls) > 0 || !r.opens()
}

// opens reports whether the text has an opener of the row's grammar.
func (r row) opens() bool {
	for _, g := range grammar.Named(r.Grammar) {
		markers := g.Markers()
		for _, m := range append(markers["group.open"], markers["call.open"]...) {
			lead, _, _ := strings.Cut(strings.TrimSpace(m), "{")
			if len(lead) > 1 && strings.Contains(r.Input, lead) {
				return true
			}
		}
	}
	return false
}

// soundNotes reports whether a row's notes name no malformation.
func (r row) soundNotes() bool {
	notes := strings.ReplaceAll(strings.ToLower(r.Notes), "malformed-looking but valid", "")
	for _, word := range broken {
		if strings.Contains(notes, word) {
			return false
		}
	}
	return true
}
